import { fitStart, widthOf } from "./text-width";

/** The part of a terminal or file that displays write to. */
export type Output = {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

/** Whether colours are wanted there; see no-color.org. */
export const wantsColor = (
  output: Output,
  env: Readonly<Record<string, string | undefined>>,
): boolean => output.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb";

/** Whether lines can be drawn over. */
export const canRedraw = (
  output: Output,
  env: Readonly<Record<string, string | undefined>>,
): boolean => output.isTTY === true && env["TERM"] !== "dumb";

/**
 * Text in tones, kept apart from escape codes until it is drawn, so that widths can be measured and
 * colours left out.
 */
export type Tone = "plain" | "bold" | "dim" | "good" | "bad" | "busy";
export type Segment = { text: string; tone: Tone };
export type Line = Segment[];

export const segment = (text: string, tone: Tone = "plain"): Segment => ({ text, tone });

const CODES: Record<Tone, string> = {
  plain: "",
  bold: "1",
  dim: "2",
  good: "32",
  bad: "31",
  busy: "36",
};

/** A line as a string of at most `width` columns. */
export function paint(line: Line, { width, color }: { width: number; color: boolean }): string {
  let left = width;
  let out = "";
  for (const { text, tone } of line) {
    const fitted = fitStart(text, left);
    left -= widthOf(fitted);
    out +=
      color && tone !== "plain" && fitted !== "" ? `\x1b[${CODES[tone]}m${fitted}\x1b[0m` : fitted;
    if (fitted !== text) break;
  }
  return out.trimEnd();
}
