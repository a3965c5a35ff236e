// The moves of a game that is being played, each of which can be looked at again.
export default {
  template: `
    <div class="moves">
      <button v-for="(text, i) in texts" :key="i" type="button" :class="{here: i + 1 === ply}"
        @click="$emit('pick', i + 1)">{{i + 1}}. {{text}}</button>
      <span v-if="!texts.length">None yet.</span>
    </div>`,
  props: { content: String, place: Number },
  data() { return { texts: JSON.parse(this.content), ply: this.place }; },
  mounted() { this.follow(); },
  methods: {
    show(kept, more, ply) { // the first `kept` moves stay as they are
      this.texts.splice(kept, Infinity, ...more);
      this.ply = ply;
      this.follow();
    },
    async follow() { // keep the move in sight within the list, without scrolling the page
      await this.$nextTick();
      const list = this.$el, move = list.querySelector && list.querySelector(".here");
      if (!move) return;
      const box = list.getBoundingClientRect(), at = move.getBoundingClientRect();
      if (at.top < box.top) list.scrollTop -= box.top - at.top;
      if (at.bottom > box.bottom) list.scrollTop += at.bottom - box.bottom;
    },
  },
};
