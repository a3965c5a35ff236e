// The pyramid of Pylos in three dimensions. It is drawn only when something changes: an idle page costs nothing.
import { THREE, OrbitControls } from "nicegui-scene";

const SIZES = [4, 3, 2, 1];
const HEIGHT = Math.SQRT1_2; // of a level, in diameters
const CLICK = 6; // pixels; a press that moves further turns the board
const COLOURS = { w: 0xf2dfb4, b: 0x4a2e1a };
const OPEN = 0x35c7e8, RING = 0xffb300, LAST = 0xff7a45, HINT = 0x005a8c;

export function placeOf(cell) { // the middle of a sphere; the board is square around the origin, z is up
  let level = 0, first = 0;
  while (cell >= first + SIZES[level] ** 2) first += SIZES[level++] ** 2;
  const size = SIZES[level], row = Math.floor((cell - first) / size), col = (cell - first) % size;
  return new THREE.Vector3(col - (size - 1) / 2, (size - 1) / 2 - row, 0.5 + HEIGHT * level);
}

export class Pyramid {
  constructor(host, onPick, onHover) {
    this.host = host; this.onPick = onPick; this.onHover = onHover; this.hovered = -1;
    this.renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true }); // throws where there is no WebGL
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    host.appendChild(this.renderer.domElement);
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(38, 1, 0.1, 50);
    this.camera.up.set(0, 0, 1);
    this.camera.position.set(2.6, -7.4, 6.2);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    Object.assign(this.controls, { enablePan: false, minDistance: 6, maxDistance: 14, maxPolarAngle: 1.45 });
    this.controls.target.set(0, 0, 0.6);
    this.controls.addEventListener("change", () => this.render());
    this.controls.update();
    this.light();
    this.base();
    this.things = new THREE.Group();
    this.scene.add(this.things);
    this.ball = new THREE.SphereGeometry(0.5, 40, 28);
    this.listen();
    this.watcher = new ResizeObserver(() => this.resize());
    this.watcher.observe(host);
    this.resize();
  }
  light() {
    this.scene.add(new THREE.AmbientLight(0xffffff, 1.3));
    for (const [x, y, z, strength] of [[4, -5, 9, 2.2], [-6, 4, 5, 0.8]]) {
      const lamp = new THREE.DirectionalLight(0xffffff, strength);
      lamp.position.set(x, y, z);
      this.scene.add(lamp);
    }
  }
  base() {
    const wood = new THREE.Mesh(new THREE.BoxGeometry(4.8, 4.8, 0.5), new THREE.MeshLambertMaterial({ color: 0xb07d4a }));
    wood.position.z = -0.1;
    this.scene.add(wood);
    const dent = new THREE.CircleGeometry(0.34, 32), dark = new THREE.MeshLambertMaterial({ color: 0x8a5d30 });
    for (let cell = 0; cell < 16; cell++) {
      const mesh = new THREE.Mesh(dent, dark), at = placeOf(cell);
      mesh.position.set(at.x, at.y, 0.156);
      this.scene.add(mesh);
    }
  }
  // state: {spheres: [[cell, "w"]], open: [cell], rings: [cell], last: [cell], hints: [[cell, opacity]], chosen: [cell],
  //   ghost: [cell, "w"] or null}
  draw(state) {
    for (const old of [...this.things.children]) { this.things.remove(old); old.material.dispose(); }
    for (const [cell, colour] of state.spheres) {
      const mesh = this.sphere(cell, colour, 1);
      if (state.chosen.includes(cell)) mesh.position.z += 0.25;
      if (state.last.includes(cell)) mesh.material.emissive.setHex(LAST).multiplyScalar(0.25);
      if (state.rings.includes(cell)) mesh.material.emissive.setHex(RING).multiplyScalar(0.45);
    }
    for (const cell of state.open) this.target(cell);
    for (const [cell, opacity] of state.hints) this.hint(cell, opacity);
    if (state.ghost) this.sphere(state.ghost[0], state.ghost[1], 0.55).userData.ghost = true;
    this.render();
  }
  sphere(cell, colour, opacity) {
    const look = { color: COLOURS[colour], shininess: 70, specular: 0x777777, transparent: opacity < 1, opacity };
    const mesh = new THREE.Mesh(this.ball, new THREE.MeshPhongMaterial(look));
    mesh.position.copy(placeOf(cell));
    mesh.userData = { cell };
    this.things.add(mesh);
    return mesh;
  }
  target(cell) { // a small light, and around it a ball that only the pointer finds
    const mesh = new THREE.Mesh(this.ball, new THREE.MeshBasicMaterial({ color: OPEN, transparent: true, opacity: 0.85 }));
    mesh.position.copy(placeOf(cell));
    mesh.position.z -= 0.3;
    mesh.scale.setScalar(0.26);
    mesh.userData = { cell };
    const hull = new THREE.Mesh(this.ball, new THREE.MeshBasicMaterial({ transparent: true, opacity: 0, depthWrite: false }));
    hull.position.copy(placeOf(cell));
    hull.scale.setScalar(0.8);
    hull.userData = { cell };
    this.things.add(mesh, hull);
  }
  hint(cell, opacity) { // a larger light than that of a mere target
    const mesh = new THREE.Mesh(this.ball, new THREE.MeshBasicMaterial({ color: HINT, transparent: true, opacity }));
    mesh.position.copy(placeOf(cell));
    mesh.position.z -= 0.15;
    mesh.scale.setScalar(0.5);
    mesh.userData = { cell };
    this.things.add(mesh);
  }
  cellAt(event) {
    const box = this.renderer.domElement.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * 2 - 1, y = 1 - ((event.clientY - box.top) / box.height) * 2;
    const ray = new THREE.Raycaster();
    ray.setFromCamera(new THREE.Vector2(x, y), this.camera);
    const hits = ray.intersectObjects(this.things.children).filter((hit) => !hit.object.userData.ghost);
    return hits.length ? hits[0].object.userData.cell : -1;
  }
  listen() {
    const canvas = this.renderer.domElement;
    canvas.addEventListener("pointerdown", (event) => { this.press = [event.clientX, event.clientY]; });
    canvas.addEventListener("pointerup", (event) => {
      const press = this.press;
      this.press = null;
      if (!press || Math.hypot(event.clientX - press[0], event.clientY - press[1]) >= CLICK) return;
      const cell = this.cellAt(event);
      if (cell >= 0) this.onPick(cell);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (this.press || event.pointerType === "touch") return;
      this.hover(this.cellAt(event));
    });
    canvas.addEventListener("pointerleave", () => this.hover(-1));
  }
  hover(cell) {
    if (cell !== this.hovered) { this.hovered = cell; this.onHover(cell); }
  }
  screen(cell) { // where a cell is on the page, in pixels
    const box = this.renderer.domElement.getBoundingClientRect();
    const at = placeOf(cell).project(this.camera);
    return [box.left + ((at.x + 1) / 2) * box.width, box.top + ((1 - at.y) / 2) * box.height];
  }
  view(name) {
    const views = { Top: [0, -0.01, 9.8], Front: [0, -9, 3.2] };
    if (name in views) this.camera.position.set(...views[name]);
    else this.camera.position.applyAxisAngle(new THREE.Vector3(0, 0, 1), Math.PI / 2);
    this.controls.update();
    this.render();
  }
  resize() {
    const width = this.host.clientWidth, height = this.host.clientHeight;
    if (!width || !height) return;
    this.renderer.setSize(width, height);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.render();
  }
  render() { this.renderer.render(this.scene, this.camera); }
  dispose() {
    this.watcher.disconnect();
    this.controls.dispose();
    this.renderer.dispose();
    this.renderer.domElement.remove();
  }
}
