// Who plays at a table of the arena, and how far the game is. The board beside it changes by the same message.
export default {
  template: `
    <figcaption class="small number">
      <div v-for="(line, i) in lines" :key="i" :class="{how: i === lines.length - 1}" :title="line">{{line}}</div>
    </figcaption>`,
  props: { first: String },
  data() { return { lines: JSON.parse(this.first) }; },
  methods: {
    tell(text, board, state) { // called by the server
      this.lines = JSON.parse(text);
      getElement(board)?.show(state);
    },
  },
};
