import type { HostedToolName } from "../../src/protocol/hosted-tools";

/** A request as any model would take it, whatever format it came in. Scripts see nothing else of it. */
export type Asked = {
  model: string;
  system: string;
  messages: AskedMessage[];
  /** Images and files in its messages, a line each (`attached.ts`). */
  attached: string[];
  tools: { name: string; parameters: unknown }[];
  /** What the provider may run for the model, by our names. */
  hostedTools: HostedToolName[];
  /** Whether the reply must call a tool. */
  forced: boolean;
  outputCap: number | null;
  /** Whether the reply may show its reasoning. */
  thinks: boolean;
};

export type AskedMessage =
  | { role: "user"; text: string }
  /** `text` and what its calls say: what a model reads of itself. */
  | { role: "assistant"; text: string }
  | { role: "tool"; callId: string; text: string };

/** A request of which nothing is known but its model. */
export const nothingAsked = (model: string): Asked => ({
  model,
  system: "",
  messages: [],
  attached: [],
  tools: [],
  hostedTools: [],
  forced: false,
  outputCap: null,
  thinks: false,
});

/** All the text a model would read. */
export const textSent = ({ system, messages, tools }: Asked): string =>
  `${system}${messages.map(({ text }) => text).join("")}${JSON.stringify(tools)}`;
