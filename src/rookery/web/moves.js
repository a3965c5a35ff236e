// The moves of a game that is looked at again; the one that led to the position on the board is marked.
export default {
  template: `
    <div class="moves">
      <button v-for="(text, i) in texts" :key="i" type="button" :class="[{here: i + 1 === ply, aside: i >= start}, grades[i + 1]]"
        @click="$emit('pick', i + 1)">{{i + 1}}. {{text}}</button>
      <span v-if="!texts.length">None.</span>
    </div>`,
  props: { content: String, marks: String, place: Number, begin: Number },
  data() {
    return { texts: Object.freeze(JSON.parse(this.content)), grades: JSON.parse(this.marks), ply: this.place, start: this.begin };
  },
  mounted() { this.follow(); },
  methods: {
    tell(text, begin) { this.texts = Object.freeze(JSON.parse(text)); this.start = begin; },
    grade(text) { this.grades = JSON.parse(text); },
    go(ply) { this.ply = ply; this.follow(); },
    async follow() { // keep the move in sight within the list, without scrolling the page
      await this.$nextTick();
      const list = this.$el, move = list.querySelector(".here");
      if (!move) { list.scrollTop = 0; return; }
      const box = list.getBoundingClientRect(), at = move.getBoundingClientRect();
      if (at.top < box.top) list.scrollTop -= box.top - at.top;
      if (at.bottom > box.bottom) list.scrollTop += at.bottom - box.bottom;
    },
  },
};
