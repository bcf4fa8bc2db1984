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
