/** A tool's result for formats that have no mark for a failed one, so that its text must say it. */
export const resultText = ({ text, isError }: { text: string; isError: boolean }): string =>
  isError && !/^error\b/i.test(text) ? `Error: ${text}` : text;
