// R2 of probes by layer for many networks, with a slider over training steps. All steps are here: sliding asks nobody.
const WIDEST = 860, HEIGHT = 380, LEFT = 36, RIGHT = 90, TOP = 20, BOTTOM = 44;
const DASHES = ["", "7 4", "2 3", "10 3 2 3"]; // for conditions beyond the five colours
const PLAY = 250; // milliseconds for a step

export default {
  template: `
    <div class="probes">
      <div class="row">
        <button type="button" class="plain" @click="play">{{timer ? 'Pause' : 'Play'}}</button>
        <input type="range" min="0" :max="steps.length - 1" v-model.number="place" aria-label="Training step"
          :aria-valuetext="'step ' + step">
        <output class="step" aria-live="off">step {{step.toLocaleString('en')}}</output>
        <select v-if="reads.length > 1" v-model="read" class="plain" aria-label="What is read">
          <option v-for="each in reads" :key="each">{{each}}</option>
        </select>
      </div>
      <svg :viewBox="'0 0 ' + width + ' ${HEIGHT}'" role="img" :aria-label="'R2 by layer at step ' + step + '; the table below has the numbers'">
        <g v-for="tick in ticks" :key="tick">
          <line class="grid" x1="${LEFT}" :x2="width - ${RIGHT}" :y1="y(tick)" :y2="y(tick)"></line>
          <text x="${LEFT - 8}" :y="y(tick)" text-anchor="end" dominant-baseline="central">{{tick.toFixed(1)}}</text>
        </g>
        <text v-for="layer in layers" :key="layer" :x="x(layer - 1)" y="${HEIGHT - BOTTOM + 20}" text-anchor="middle">{{layer - 1}}</text>
        <text :x="(width - ${RIGHT - LEFT}) / 2" y="${HEIGHT - 6}" text-anchor="middle">layer</text>
        <text x="${LEFT}" y="10">R²</text>
        <g v-for="group in drawn" :key="group.condition" fill="none" :stroke="group.colour" :stroke-dasharray="group.dash">
          <path v-for="one in group.members" :key="one.name" :d="path(one.r2)" opacity="0.35" stroke-width="1.5"></path>
          <path :d="path(group.mean)" stroke-width="3"></path>
          <circle v-for="(value, i) in group.mean" :key="i" :cx="x(i)" :cy="y(value)" r="3.5" :fill="group.colour"></circle>
          <text :x="x(group.mean.length - 1) + 10" :y="group.labelY" dominant-baseline="central" stroke="none"
            :style="{fill: group.colour}">{{group.condition}}</text>
        </g>
      </svg>
      <div class="row">
        <button v-for="group in groups" :key="group.condition" type="button" :class="{key: true, off: hidden[group.condition]}"
          :aria-pressed="String(!hidden[group.condition])" :title="group.meaning" @click="hidden[group.condition] = !hidden[group.condition]">
          <svg width="26" height="10" aria-hidden="true" style="width: 26px"><line x1="0" x2="26" y1="5" y2="5" stroke-width="3"
            :stroke="group.colour" :stroke-dasharray="group.dash"></line></svg>
          {{group.condition}} ({{group.members.length}})
        </button>
      </div>
      <div class="small">Thick: mean of a condition's runs; thin: its runs. A run that was not probed at this step shows its
        probe before it; one that has not begun is left out. Layers are counted from 0.</div>
      <table>
        <thead><tr><th>network</th><th>what it is</th><th>step</th><th v-for="layer in layers" :key="layer">layer {{layer - 1}}</th></tr></thead>
        <tbody><tr v-for="one in rows" :key="one.name"><td>{{one.name}}</td><td>{{one.meaning}}</td><td>{{one.step.toLocaleString('en')}}</td>
          <td v-for="layer in layers" :key="layer">{{layer <= one.r2.length ? one.r2[layer - 1].toFixed(3) : ''}}</td></tr></tbody>
      </table>
    </div>`,
  props: { content: String },
  data() {
    const networks = Object.freeze(JSON.parse(this.content));
    const reads = [...new Set(networks.flatMap((one) => Object.keys(one.reads)))];
    return { networks, reads, read: reads[0], place: 0, hidden: {}, timer: null, width: WIDEST };
  },
  created() { this.place = this.steps.length - 1; },
  mounted() { // drawn in pixels of the screen, so that words have the same size on a phone
    this.watcher = new ResizeObserver(() => { this.width = Math.max(280, Math.min(WIDEST, this.$el.clientWidth)); });
    this.watcher.observe(this.$el);
  },
  beforeUnmount() { clearInterval(this.timer); this.watcher.disconnect(); },
  computed: {
    steps() {
      const all = this.networks.flatMap((one) => (one.reads[this.read] ? one.reads[this.read].steps : []));
      return [...new Set(all)].sort((a, b) => a - b);
    },
    step() { return this.steps[Math.min(this.place, this.steps.length - 1)] || 0; },
    rows() { // each network at this step, or where it was probed last before it
      return this.networks.flatMap((one) => {
        const found = one.reads[this.read];
        const at = found ? found.steps.findLastIndex((step) => step <= this.step) : -1;
        return at < 0 ? [] : [{ ...one, step: found.steps[at], r2: found.r2[at] }];
      });
    },
    layers() {
      const depths = this.networks.flatMap((one) => (one.reads[this.read] ? one.reads[this.read].r2.map((r) => r.length) : []));
      return Math.max(1, ...depths);
    },
    least() { // the axis holds every step, so that it stays where it is while one slides
      const all = this.networks.flatMap((one) => (one.reads[this.read] ? one.reads[this.read].r2.flat() : []));
      return Math.max(-1, Math.min(0, Math.floor(Math.min(...all) * 5) / 5));
    },
    ticks() {
      const count = Math.round((1 - this.least) / 0.2);
      return Array.from({ length: count + 1 }, (_, i) => this.least + 0.2 * i);
    },
    groups() {
      const names = [...new Set(this.networks.map((one) => one.condition))];
      return names.map((condition, i) => {
        const members = this.rows.filter((one) => one.condition === condition);
        const meaning = this.networks.find((one) => one.condition === condition).meaning;
        const depth = Math.max(0, ...members.map((one) => one.r2.length));
        const mean = Array.from({ length: depth }, (_, layer) => {
          const values = members.filter((one) => one.r2.length > layer).map((one) => one.r2[layer]);
          return values.reduce((a, b) => a + b, 0) / values.length;
        });
        return { condition, meaning, members, mean, colour: `var(--series-${i % 5})`, dash: DASHES[Math.floor(i / 5) % 4] };
      });
    },
    drawn() { // labels at the lines' ends, moved apart where they would lie on one another
      const shown = this.groups.filter((group) => group.mean.length && !this.hidden[group.condition]);
      const placed = [];
      for (const group of [...shown].sort((a, b) => this.end(a) - this.end(b))) {
        const sameEnd = placed.filter((other) => other.mean.length === group.mean.length);
        const above = sameEnd.length ? sameEnd[sameEnd.length - 1].labelY + 15 : -Infinity;
        placed.push({ ...group, labelY: Math.max(this.end(group), above) });
      }
      return placed;
    },
  },
  methods: {
    x(layer) { return LEFT + ((this.width - LEFT - RIGHT) * (layer + 0.5)) / this.layers; },
    y(value) {
      const part = (Math.max(this.least, Math.min(1, value)) - this.least) / (1 - this.least);
      return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * part;
    },
    end(group) { return this.y(group.mean[group.mean.length - 1]); },
    path(values) { return values.map((value, i) => `${i ? "L" : "M"}${this.x(i)} ${this.y(value)}`).join(""); },
    play() {
      if (this.timer) { clearInterval(this.timer); this.timer = null; return; }
      if (this.place >= this.steps.length - 1) this.place = 0;
      this.timer = setInterval(() => {
        if (this.place >= this.steps.length - 1) this.play();
        else this.place += 1;
      }, PLAY);
    },
  },
};
