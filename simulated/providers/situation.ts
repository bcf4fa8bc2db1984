import type { ModelInput, ModelMessage } from "./model-input";
import { VoteParametersSchema } from "./schema";

/**
 * A request as a model would understand it, and the only input of a script. It is derived from the
 * blocks in the service's messages and from the offered tools.
 */
export type Situation = {
  model: string;
  question: string;
  /** Names of all tools in the request. */
  offers: string[];
  /** Follows from the offered tools. */
  stage: Stage;
  /** Whether the reply must call a tool. */
  forced: boolean;
  /** Aliases that the vote tool accepts. */
  aliases: string[];
  /** The newest answer of each alias, in the order in which the aliases first appear. */
  shown: ShownAnswer[];
  /** The answers of the last message with answers. Empty if only the first message has answers. */
  news: ShownAnswer[];
  /** Number of messages with answers after the first user message. */
  updates: number;
  /** Number of earlier replies of the model in this conversation. */
  callIndex: number;
  toolResults: { id: string; text: string }[];
  /** The request that this situation is derived from. */
  asked: ModelInput;
};

export type ShownAnswer = { alias: string; text: string };

/**
 * `deciding`: the agent may answer or vote. `at_limit`: the agent may vote, but no longer
 * answer.
 */
export type Stage =
  | "first_answer"
  | "deciding"
  | "at_limit"
  | "presentation"
  | "judgement"
  | "personas"
  | "summary";

type Block = { title: string; text: string };

/** Interprets a request. Never throws. A message without blocks is a question. */
export function toSituation(asked: ModelInput): Situation {
  const offers = asked.tools.map(({ name }) => name);
  const readable = asked.messages.filter(({ role }) => role !== "assistant");
  const nonce = nonceIn(readable);
  const perMessage = readable.map((message) => blocksIn(message.text, nonce));
  const updates = perMessage
    .slice(1)
    .map(answersIn)
    .filter((answers) => answers.length > 0);
  return {
    model: asked.model,
    question: questionIn(perMessage[0] ?? [], readable[0]),
    offers,
    stage: isHistorySummary(asked) ? "summary" : stageOf(offers),
    forced: asked.forced,
    aliases: aliasesOffered(asked),
    shown: newestPerAlias(perMessage.flatMap(answersIn)),
    news: updates.at(-1) ?? [],
    updates: updates.length,
    callIndex: repliesIn(asked),
    toolResults: readable.flatMap((message) =>
      message.role === "tool" ? [{ id: message.callId, text: message.text }] : [],
    ),
    asked,
  };
}

/** The number of replies. Consecutive assistant messages are one reply. */
const repliesIn = ({ messages }: ModelInput): number =>
  messages.filter(({ role }, at) => role === "assistant" && messages[at - 1]?.role !== "assistant")
    .length;

/** Whether the request asks for a summary of earlier turns. */
const isHistorySummary = ({ system, tools }: ModelInput): boolean =>
  tools.length === 0 && system.includes("summarise the earlier part of a conversation");

function stageOf(offers: string[]): Stage {
  if (offers.includes("assign_personas")) return "personas";
  if (offers.includes("submit")) return "judgement";
  if (offers.includes("new_answer")) return offers.includes("vote") ? "deciding" : "first_answer";
  return offers.includes("vote") ? "at_limit" : "presentation";
}

/**
 * The nonce of the service's blocks. A block with another nonce is an imitation in a quoted text.
 */
function nonceIn(messages: ModelMessage[]): string | null {
  for (const message of messages) {
    const nonce = /<<<(\S+) [A-Z]/.exec(message.text)?.[1];
    if (nonce) return nonce;
  }
  return null;
}

/**
 * All blocks `<<<nonce TITLE>>>` … `<<<nonce END TITLE>>>`. An outer block precedes its inner ones.
 */
function blocksIn(text: string, nonce: string | null): Block[] {
  const blocks: Block[] = [];
  const opening = /<<<(\S+) (?!END )([^<>\n]+)>>>/g;
  for (let found = opening.exec(text); found; found = opening.exec(text)) {
    const [mark, foundNonce, title = ""] = found;
    const start = found.index + mark.length;
    const end = foundNonce === nonce ? text.indexOf(`<<<${nonce} END ${title}>>>`, start) : -1;
    if (end >= 0) blocks.push({ title, text: text.slice(start, end).trim() });
  }
  return blocks;
}

function answersIn(blocks: Block[]): ShownAnswer[] {
  return blocks.flatMap(({ title, text }) => {
    const alias = /^ANSWER\b.*\b(agent\d+)\b/.exec(title)?.[1];
    return alias ? [{ alias, text }] : [];
  });
}

function questionIn(blocks: Block[], first: ModelMessage | undefined): string {
  const block = blocks.find(({ title }) => title.startsWith("ORIGINAL MESSAGE"));
  return block ? block.text : first ? first.text.trim() : "";
}

function newestPerAlias(answers: ShownAnswer[]): ShownAnswer[] {
  const newest = new Map(answers.map(({ alias, text }) => [alias, text]));
  return [...newest].map(([alias, text]) => ({ alias, text }));
}

function aliasesOffered({ tools }: ModelInput): string[] {
  const vote = tools.find(({ name }) => name === "vote");
  const parameters = VoteParametersSchema.safeParse(vote?.parameters);
  return parameters.success ? (parameters.data.properties.agent_id?.enum ?? []) : [];
}
