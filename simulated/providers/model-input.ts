import type { HostedToolName } from "../../src/protocol/hosted-tools";

/** The part of a request that a model reads, the same for every wire format. */
export type ModelInput = {
  model: string;
  system: string;
  messages: ModelMessage[];
  /** Images and files in its messages, one line each (`attached.ts`). */
  attached: string[];
  tools: { name: string; parameters: unknown }[];
  /** Hosted tools in the request, by the names that this project uses. */
  hostedTools: HostedToolName[];
  /** Whether the reply must call a tool. */
  forced: boolean;
  /** Maximum number of output tokens; `null`: no limit. */
  outputCap: number | null;
  /** Whether the reply may contain reasoning. */
  thinks: boolean;
};

export type ModelMessage =
  | { role: "user"; text: string }
  /** `text` contains the text of the reply, then the names and arguments of its calls. */
  | { role: "assistant"; text: string }
  | { role: "tool"; callId: string; text: string };

/** The input for a request of which only the model is known. */
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
