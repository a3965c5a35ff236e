// The moves that a search thinks best: rows that keep their places.
export default {
  template: `
    <div class="lines number" v-show="rows.length">
      <template v-for="(row, i) in most" :key="i">
        <div>{{row ? row[0] : ""}}</div>
        <div class="track" :style="{visibility: row ? 'visible' : 'hidden'}">
          <div class="share" :style="{width: (row ? row[1] : 0) + '%'}"></div>
        </div>
        <div class="right small">{{row ? row[2] : ""}}</div>
        <div class="right">{{row ? row[3] : ""}}</div>
      </template>
    </div>`,
  props: { first: String, places: Number },
  data() { return { rows: JSON.parse(this.first) }; },
  computed: {
    most() { return Array.from({ length: this.places }, (_, i) => this.rows[i] || null); },
  },
  methods: { show(rows) { this.rows = rows; } },
};
