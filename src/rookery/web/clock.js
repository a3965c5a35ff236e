// The time each seat has used. It goes on by itself; the server tells it only when somebody has moved.
export default {
  template: `<div role="timer">{{text}}</div>`,
  props: { names: String, first: String },
  data() {
    const [seconds, running] = JSON.parse(this.first);
    return { seconds, running, since: performance.now(), now: performance.now() };
  },
  mounted() { this.beat = setInterval(() => { this.now = performance.now(); }, 250); },
  beforeUnmount() { clearInterval(this.beat); },
  computed: {
    text() {
      const more = (seat) => (seat === this.running ? Math.max(0, this.now - this.since) / 1000 : 0);
      const shown = (used) => `${Math.floor(used / 60)}:${String(Math.floor(used % 60)).padStart(2, "0")}`;
      return JSON.parse(this.names).map((name, i) => `${name} ${shown((this.seconds[i] || 0) + more(i))}`).join(" · ");
    },
  },
  methods: {
    show(seconds, running) {
      this.seconds = seconds;
      this.running = running;
      this.since = this.now = performance.now();
    },
  },
};
