// The value of a game over its moves. Above the middle the first side is better. A click jumps to a position.
const WIDTH = 640, HEIGHT = 120, LEFT = 8, RIGHT = 8, TOP = 8, BOTTOM = 8;

export default {
  template: `
    <div class="graph">
      <svg :viewBox="'0 0 ${WIDTH} ${HEIGHT}'" preserveAspectRatio="none" role="img" :aria-label="told" @click="clicked" ref="svg">
        <line class="middle-line" x1="${LEFT}" x2="${WIDTH - RIGHT}" :y1="y(0)" :y2="y(0)"></line>
        <path class="area" v-for="(piece, i) in pieces" :key="'a' + i" :d="area(piece)"></path>
        <path class="curve" v-for="(piece, i) in pieces" :key="'c' + i" :d="curve(piece)"></path>
        <line class="here-line" :x1="x(ply)" :x2="x(ply)" y1="0" y2="${HEIGHT}"></line>
      </svg>
      <button v-for="mark in points" :key="mark.ply" type="button" tabindex="-1" :class="['point', mark.grade]" :title="mark.title"
        :style="{left: mark.left, top: mark.top}" :aria-label="mark.title" @click="$emit('jump', mark.ply)"></button>
      <div class="small sides"><span>{{names[0]}} better above, {{names[1]}} below</span><span>{{here}}</span></div>
    </div>`,
  props: { sides: String, first: String, place: Number },
  data() { return { names: JSON.parse(this.sides), values: [], marks: {}, ply: this.place }; },
  created() { this.show(this.first); },
  computed: {
    last() { return Math.max(1, this.values.length - 1); },
    pieces() { // runs of values that are known
      const found = [];
      this.values.forEach((value, i) => {
        if (value === null) return;
        if (i && this.values[i - 1] !== null && found.length) found[found.length - 1].push([i, value]);
        else found.push([[i, value]]);
      });
      return found;
    },
    points() {
      return Object.entries(this.marks).flatMap(([text, grade]) => {
        const ply = Number(text), value = this.values[ply];
        if (value === null || value === undefined) return [];
        const left = (100 * this.x(ply)) / WIDTH + "%", top = this.y(value) + "px";
        return [{ ply, grade, left, top, title: `move ${ply}: ${grade}` }];
      });
    },
    here() {
      const value = this.values[this.ply];
      return value === null || value === undefined ? "" : `${this.names[0]} ${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;
    },
    told() {
      const known = this.values.filter((value) => value !== null).length;
      return `Value over the game: ${known} of ${this.values.length} positions known, ${this.points.length} costly moves`;
    },
  },
  methods: {
    show(text) {
      const content = JSON.parse(text);
      this.values = content.values;
      this.marks = content.marks;
    },
    go(ply, moves, board, state, marks) { // board, list and graph change in one frame, so they never disagree
      this.ply = ply;
      getElement(moves)?.go(ply);
      getElement(board)?.show(state);
      getElement(board)?.heat(marks);
    },
    x(ply) { return LEFT + ((WIDTH - LEFT - RIGHT) * ply) / this.last; },
    y(value) { return TOP + ((HEIGHT - TOP - BOTTOM) * (1 - value)) / 2; },
    curve(piece) { return piece.map(([i, value], n) => `${n ? "L" : "M"}${this.x(i)} ${this.y(value)}`).join(""); },
    area(piece) { return `M${this.x(piece[0][0])} ${this.y(0)}` + piece.map(([i, v]) => `L${this.x(i)} ${this.y(v)}`).join("") + `L${this.x(piece[piece.length - 1][0])} ${this.y(0)}Z`; },
    clicked(event) {
      const box = this.$refs.svg.getBoundingClientRect();
      const along = ((event.clientX - box.left) / box.width) * WIDTH;
      const ply = Math.round(((along - LEFT) / (WIDTH - LEFT - RIGHT)) * this.last);
      this.$emit("jump", Math.max(0, Math.min(this.values.length - 1, ply)));
    },
  },
};
