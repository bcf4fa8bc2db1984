import { readFileSync } from "node:fs";

const RECORDING = "docs/images/demo.txt";
/** All lengths are in pixels. */
const CHAR_WIDTH = 7.8;
const LINE_HEIGHT = 19;
const MARGIN = 16;
const TITLE_BAR_HEIGHT = 30;

/** Draws the recorded demo run as a picture of a terminal. A dollar sign marks a typed line. */
export function demoPicture(): string {
  const lines = readFileSync(RECORDING, "utf8").trimEnd().split("\n");
  const columns = Math.max(...lines.map((line) => line.length));
  const width = Math.ceil(columns * CHAR_WIDTH + 2 * MARGIN);
  const height = TITLE_BAR_HEIGHT + lines.length * LINE_HEIGHT + MARGIN;
  const texts = lines.map(
    (line, index) =>
      `<text x="${MARGIN}" y="${TITLE_BAR_HEIGHT + 14 + index * LINE_HEIGHT}" fill="${colorOf(line)}">${escapeXml(line)}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="A run of the demo in a terminal">
<rect width="100%" height="100%" rx="8" fill="#1b1f27"/>
<circle cx="18" cy="15" r="5" fill="#e0605a"/><circle cx="36" cy="15" r="5" fill="#e0b45a"/><circle cx="54" cy="15" r="5" fill="#6fbf66"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13" xml:space="preserve">
${texts.join("\n")}
</g>
</svg>
`;
}

function colorOf(line: string): string {
  if (line.startsWith("$")) return "#8fd3ff";
  if (/ votes? for |vote no longer counts|votes of /.test(line)) return "#e6c27a";
  if (/ answers: |settled: |^winner/.test(line)) return "#9bd68b";
  return "#d5d9e0";
}

const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
