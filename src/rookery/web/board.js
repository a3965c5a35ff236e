// A board: draws a picture, shows what a click would do, and sends moves. Hovering and choosing stay in the browser.
// A move is drawn at once as pending; the server answers with the new picture, or says that it refuses.
const SMALL_CELL = 30; // pixels; on touch screens smaller cells ask for a second tap
const DRAG = 4; // pixels before a press becomes a drag

export default {
  template: `
    <div class="board">
      <div v-if="solid" class="solid" ref="host" role="img" :aria-label="label + ' in three dimensions'"></div>
      <div v-if="solid" class="choices">
        <button v-for="view in ['Top', 'Front', 'Turn']" :key="view" type="button" class="choice quiet"
          @click="pyramid && pyramid.view(view)">{{view}}</button>
      </div>
      <svg v-show="!solid" ref="svg" :viewBox="'0 0 ' + still.width + ' ' + still.height" tabindex="0" role="grid" :aria-label="label"
        :aria-activedescendant="cursor === null ? undefined : name + '-' + cursor"
        :class="{live: active, dragging: drag !== null, movable: active && ways.some((way) => way[1].length > 1)}"
        @pointermove="moved" @pointerleave="left" @pointerdown="pressed" @pointerup="released"
        @pointercancel="left" @keydown="keyed" @focus="focused" @blur="cursor = null">
        <g v-html="'<defs>' + still.symbols + '</defs>' + still.ground"></g>
        <use v-for="(man, i) in men" :key="i + man[0]" :href="'#' + man[0]" :x="man[1]" :y="man[2]"
          :opacity="isLifted(man) ? 0.25 : 1"></use>
        <g v-for="mark in marks" :key="mark.key" pointer-events="none">
          <path v-if="mark.arrow" :d="mark.arrow" fill="#005A8C" :opacity="mark.opacity"></path>
          <circle v-else :cx="mark.x" :cy="mark.y" :r="mark.r" fill="#005A8C" :opacity="mark.opacity"></circle>
          <text v-if="mark.text" :x="mark.x" :y="mark.y" text-anchor="middle" dominant-baseline="central"
            font-size="10.5" font-weight="600" fill="#fff" font-family="system-ui, sans-serif">{{mark.text}}</text>
        </g>
        <g pointer-events="none">
          <rect v-for="spot in selectedSpots" :key="'s' + spot.i" class="chosen" :x="spot.x" :y="spot.y"
            :width="spot.w" :height="spot.h" rx="4"></rect>
          <circle v-for="spot in targets" :key="'t' + spot.i" class="target" :cx="spot.cx" :cy="spot.cy"
            :r="spot.r"></circle>
          <use v-if="ghost" :href="'#' + ghost[0]" :x="ghost[1]" :y="ghost[2]" :opacity="ghost[3]"></use>
        </g>
        <rect v-for="(spot, i) in spots" :key="i" :id="name + '-' + i" :data-spot="i" role="gridcell"
          :aria-label="spot[4]" :class="{spot: true, cursor: i === cursor}" :x="spot[0] - spot[2] / 2"
          :y="spot[1] - spot[3] / 2" :width="spot[2]" :height="spot[3]" rx="4"></rect>
      </svg>
      <div :class="{choices: true, over: asked.length}" v-if="buttons.length">
        <button v-for="way in buttons" :key="way[0]" type="button" class="choice" :data-action="way[0]"
          @click="send(way)">{{way[3]}}</button>
        <button v-if="asked.length" type="button" class="choice quiet" @click="drop">Cancel</button>
      </div>
    </div>`,
  props: { fixed: String, first: String, label: String },
  data() {
    return {
      still: JSON.parse(this.fixed), men: [], spots: [], ways: [], anywhere: false, ply: 0, active: false,
      chosen: [], asked: [], hover: null, armed: null, cursor: null, pending: null, drag: null, marks: [],
      solid: false,
      name: "spot" + Math.random().toString(36).slice(2),
    };
  },
  created() { this.show(this.first); },
  beforeUnmount() { this.flat(); },
  watch: {
    men() { this.redraw(); },
    chosen() { this.redraw(); },
    hover() { this.redraw(); },
    pending() { this.redraw(); },
    marks() { this.redraw(); },
  },
  computed: {
    buttons() {
      if (!this.active || this.pending) return [];
      return this.asked.length ? this.asked : this.ways.filter((way) => way[1].length === 0);
    },
    selectedSpots() { return this.chosen.map((i) => this.box(i)); },
    targets() {
      if (!this.chosen.length || !this.active) return [];
      const next = new Set(this.starting(this.chosen).map((way) => way[1][this.chosen.length]));
      return [...next].filter((i) => i !== undefined).map((i) => this.box(i));
    },
    ghost() { // [symbol, x, y, opacity]
      if (this.drag) return [this.drag.symbol, this.drag.x, this.drag.y, 0.95];
      if (this.pending && this.pending[2]) return [...this.pending[2], 1];
      const way = this.armed || this.hover;
      return this.active && way && way[2] ? [...way[2], this.armed ? 0.75 : 0.45] : null;
    },
  },
  methods: {
    // -- called by the server --
    show(text, fixed, marks) {
      const state = JSON.parse(text);
      if (fixed) this.still = JSON.parse(fixed);
      if (marks) this.marks = marks;
      const same = state.ply === this.ply && state.active === this.active && JSON.stringify(state.ways) === JSON.stringify(this.ways);
      for (const key of ["men", "spots", "ways", "anywhere", "ply", "active"]) this[key] = state[key];
      this.pending = null;
      if (!same) { this.hover = null; this.drop(); } // the same once more does not take a man out of a hand
      if (this.cursor !== null && this.cursor >= this.spots.length) this.cursor = this.spots.length ? this.spots.length - 1 : null;
    },
    reject() { this.pending = null; this.drop(); },
    heat(marks) { this.marks = marks; },
    async space(on) { // show the pyramid in three dimensions, or the grids again
      this.flat();
      if (!on) return;
      if (!document.createElement("canvas").getContext("webgl2")) { this.$emit("flat", "no WebGL"); return; }
      this.solid = true;
      try {
        const { Pyramid } = await import("rookery-solid");
        await this.$nextTick();
        if (!this.$refs.host) return;
        const at = (cell) => ({ x: this.spots[cell][0], y: this.spots[cell][1] });
        this.pyramid = new Pyramid(
          this.$refs.host,
          (cell) => this.pick(cell, at(cell)),
          (cell) => { this.hover = cell >= 0 && this.active ? this.meant(cell, at(cell))[0] || null : null; },
        );
        this.redraw();
      } catch (error) {
        this.flat();
        this.$emit("flat", String(error));
      }
    },
    flat() {
      if (this.pyramid) this.pyramid.dispose();
      this.pyramid = null;
      this.solid = false;
    },
    redraw() {
      if (!this.pyramid) return;
      const cellOf = (man) => this.spots.findIndex((spot) => spot[0] === man[1] && spot[1] === man[2]);
      const named = (symbol) => this.men.filter((man) => man[0] === symbol).map(cellOf);
      const colour = (man) => ({ "pylos-w": "w", "pylos-b": "b" })[man[0]];
      const way = this.pending || this.hover;
      const put = way && way[2] && colour(way[2]);
      this.pyramid.draw({
        spheres: this.men.filter(colour).map((man) => [cellOf(man), colour(man)]),
        open: this.chosen.length ? this.targets.map((target) => target.i) : this.active ? named("pylos-open") : [],
        rings: named("pylos-free"), last: named("pylos-last"), hints: this.hinted(), chosen: [...this.chosen], ghost: put ? [cellOf(way[2]), put] : null,
      });
    },
    hinted() { // what is drawn over the grids, for the pyramid; of an arrow its target
      const at = (mark) => mark.target || [mark.x, mark.y];
      const cell = (mark) => this.spots.findIndex((spot) => spot[0] === at(mark)[0] && spot[1] === at(mark)[1]);
      return this.marks.map((mark) => [cell(mark), mark.opacity]).filter(([i]) => i >= 0);
    },
    screen(cell) { return this.pyramid ? this.pyramid.screen(cell) : null; },
    // -- where things are --
    box(i) {
      const [cx, cy, w, h] = this.spots[i];
      return { i, cx, cy, w, h, x: cx - w / 2, y: cy - h / 2, r: Math.min(w, h) * 0.17 };
    },
    point(event) {
      const matrix = this.$refs.svg.getScreenCTM();
      return new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    },
    spotAt(p) {
      return this.spots.findIndex((s) => Math.abs(p.x - s[0]) <= s[2] / 2 && Math.abs(p.y - s[1]) <= s[3] / 2);
    },
    cellPixels() {
      return this.spots.length ? this.spots[0][2] * this.$refs.svg.getScreenCTM().a : 100;
    },
    isLifted(man) {
      if (this.drag) return man[1] === this.drag.fromX && man[2] === this.drag.fromY;
      if (this.pending && this.pending[1].length > 1) {
        const from = this.spots[this.pending[1][0]];
        return man[1] === from[0] && man[2] === from[1];
      }
      return false;
    },
    // -- which moves are meant --
    starting(path) { return this.ways.filter((way) => path.every((spot, i) => way[1][i] === spot)); },
    meant(i, p) { // the moves that pointing at a spot makes
      if (this.anywhere) {
        const near = this.ways.filter((way) => way[1].includes(i));
        const distance = (way) => Math.hypot(way[2][1] - p.x, way[2][2] - p.y);
        return near.sort((a, b) => distance(a) - distance(b)).slice(0, 1);
      }
      const path = [...this.chosen, i];
      return this.starting(path).filter((way) => way[1].length === path.length);
    },
    pick(i, p) {
      if (!this.active || this.pending || i < 0) return;
      const ways = this.meant(i, p);
      if (ways.length === 1) return this.send(ways[0]);
      if (ways.length > 1) { this.asked = ways; return; }
      if (this.chosen.includes(i)) return this.drop();
      if (this.starting([...this.chosen, i]).length && !this.anywhere) { this.chosen = [...this.chosen, i]; return; }
      if (this.chosen.length) { this.drop(); this.pick(i, p); }
    },
    drop() { this.chosen = []; this.asked = []; this.drag = null; this.armed = null; },
    send(way) {
      if (!this.active || this.pending) return;
      this.pending = way;
      this.hover = this.armed = this.drag = null;
      this.chosen = [];
      this.asked = [];
      this.$emit("play", { action: way[0], ply: this.ply });
    },
    // -- pointers --
    moved(event) {
      const p = this.point(event);
      if (this.press && this.press.man && !this.drag && this.far(event)) {
        this.chosen = [this.press.spot];
        this.drag = { symbol: this.press.man[0], fromX: this.press.man[1], fromY: this.press.man[2], x: p.x, y: p.y };
      }
      if (this.drag) { this.drag.x = p.x; this.drag.y = p.y; return; }
      if (event.pointerType === "touch" || !this.active) return;
      const i = this.spotAt(p);
      this.hover = i < 0 ? null : this.meant(i, p)[0] || null;
    },
    far(event) { return Math.hypot(event.clientX - this.press.x, event.clientY - this.press.y) > DRAG; },
    left() { this.hover = null; if (this.drag) this.drop(); this.press = null; },
    pressed(event) {
      if (event.button) return;
      const i = this.spotAt(this.point(event));
      this.press = { spot: i, x: event.clientX, y: event.clientY, man: null };
      const movable = !this.anywhere && this.active && i >= 0 && this.ways.some((w) => w[1].length > 1 && w[1][0] === i);
      if (movable) {
        const spot = this.spots[i];
        this.press.man = this.men.findLast((man) => man[1] === spot[0] && man[2] === spot[1]) || null;
        this.$refs.svg.setPointerCapture(event.pointerId);
      }
    },
    released(event) {
      const press = this.press, p = this.point(event), i = this.spotAt(p);
      this.press = null;
      if (!press) return;
      if (this.drag) {
        this.drag = null;
        const ways = i >= 0 && i !== press.spot ? this.meant(i, p) : [];
        return ways.length ? this.pick(i, p) : this.drop();
      }
      if (i !== press.spot) return;
      if (event.pointerType === "touch" && this.cellPixels() < SMALL_CELL && !this.chosen.length) {
        const way = this.meant(i, p)[0];
        if (way && (!this.armed || this.armed[0] !== way[0])) { this.armed = way; return; }
      }
      this.pick(i, p);
    },
    // -- keyboard --
    focused() {
      if (this.cursor === null && !this.press && this.$refs.svg.matches(":focus-visible")) this.begin();
    },
    begin() { this.cursor = this.spots.length ? Math.floor(this.spots.length / 2) : null; },
    keyed(event) {
      const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
      if (event.key === "Escape") return this.drop();
      if (this.cursor === null) { // after a click the arrows belong to the page, which steps through the game
        if (event.key === "Enter" && this.spots.length) { this.begin(); event.preventDefault(); }
        return;
      }
      if (event.key in steps) this.step(...steps[event.key]);
      else if (event.key === "Enter" || event.key === " ") this.pick(this.cursor, this.atCursor());
      else return;
      event.preventDefault();
      event.stopPropagation();
      const p = this.atCursor();
      this.hover = this.meant(this.cursor, p)[0] || null;
    },
    atCursor() { const spot = this.spots[this.cursor]; return { x: spot[0] + 1, y: spot[1] + 1 }; },
    step(dx, dy) { // to the nearest spot on that side, sideways counting double
      const here = this.spots[this.cursor];
      let best = null, least = Infinity;
      this.spots.forEach((spot, i) => {
        const x = spot[0] - here[0], y = spot[1] - here[1];
        const along = x * dx + y * dy, aside = Math.abs(x * dy) + Math.abs(y * dx);
        if (along > 1 && along + 2 * aside < least) { least = along + 2 * aside; best = i; }
      });
      if (best !== null) this.cursor = best;
    },
  },
};
