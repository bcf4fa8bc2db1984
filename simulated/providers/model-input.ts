import type { HostedToolName } from "../../src/protocol/hosted-tools";

/** A request independent of its format; the only input of scripts. */
export type ModelInput = {
  model: string;
  system: string;
  messages: ModelMessage[];
  /** Images and files in its messages, one line each (`attached.ts`). */
  attached: string[];
  tools: { name: string; parameters: unknown }[];
  /** Hosted tools in the request, by our names. */
  hostedTools: HostedToolName[];
  /** Whether the reply must call a tool. */
  forced: boolean;
  outputCap: number | null;
  /** Whether the reply may contain reasoning. */
  thinks: boolean;
};

export type ModelMessage =
  | { role: "user"; text: string }
  /** `text` and the content of its calls: what a model reads of its own replies. */
  | { role: "assistant"; text: string }
  | { role: "tool"; callId: string; text: string };

/** A request of which only the model is known. */
export const nothingAsked = (model: string): ModelInput => ({
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

/** All text that a model would read. */
export const textSent = ({ system, messages, tools }: ModelInput): string =>
  `${system}${messages.map(({ text }) => text).join("")}${JSON.stringify(tools)}`;
