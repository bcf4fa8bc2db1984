import type { Frame } from "./cpu-profile";

const WIDTH = 1_200;
const ROW = 17;
const MARGIN = 28;
/** A narrower frame is not drawn. */
const NARROWEST = 0.6;
/** Average width of a character. */
const CHARACTER = 6.6;

type Options = {
  title: string;
  /** Divides all times, for example by a number of calls. */
  per: number;
};

/**
 * A flame graph as an SVG image: a function's width is its share of the time, and what it calls is
 * below it. Each frame has its time in ms as a tooltip.
 */
export function flameGraph(root: Frame, { title, per }: Options): string {
  const boxes = [...boxesOf(root, { left: 0, depth: 0, width: WIDTH })];
  const height = MARGIN + ROW * (1 + Math.max(...boxes.map(({ depth }) => depth)));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" font-family="monospace" font-size="11">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    `<text x="6" y="18" font-size="13">${escaped(title)}</text>`,
    ...boxes.map((box) => drawn(box, per)),
    "</svg>\n",
  ].join("\n");
}

type Box = { frame: Frame; left: number; depth: number; width: number };

function* boxesOf(frame: Frame, { left, depth, width }: Omit<Box, "frame">): Generator<Box> {
  if (width < NARROWEST) return;
  yield { frame, left, depth, width };
  let childLeft = left;
  const children = [...frame.children.values()].sort((a, b) => b.micros - a.micros);
  for (const child of children) {
    const childWidth = (width * child.micros) / frame.micros;
    yield* boxesOf(child, { left: childLeft, depth: depth + 1, width: childWidth });
    childLeft += childWidth;
  }
}

function drawn({ frame, left, depth, width }: Box, per: number): string {
  const y = MARGIN + depth * ROW;
  const millis = (frame.micros / 1_000 / per).toFixed(3);
  const letters = Math.floor((width - 4) / CHARACTER);
  const label = letters < 3 ? "" : frame.name.slice(0, letters);
  const text =
    label === "" ? "" : `<text x="${fixed(left + 2)}" y="${y + 12}">${escaped(label)}</text>`;
  return `<g><title>${escaped(frame.name)}: ${millis} ms</title><rect x="${fixed(left)}" y="${y}" width="${fixed(width)}" height="${ROW - 1}" fill="${colorOf(frame.name)}"/>${text}</g>`;
}

const fixed = (value: number): string => String(Math.round(value * 10) / 10);

/** The same color for the same name. */
function colorOf(name: string): string {
  let sum = 0;
  for (const character of name) sum = (sum * 31 + character.charCodeAt(0)) % 60;
  return `hsl(${sum} 80% 72%)`;
}

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
