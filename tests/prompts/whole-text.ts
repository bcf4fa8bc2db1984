import type { FirstMessage } from "../../src/prompts/history";

/** A first message as one text. */
export const wholeText = ({ history, text }: FirstMessage): string => [...history, text].join("");
