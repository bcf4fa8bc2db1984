import type { ModelInput, ModelMessage } from "./model-input";
import { VoteParametersSchema } from "./schema";

/**
 * A request as a model would understand it: from the blocks in the service's messages and the
 * offered tools. The only input of scripts.
 */
export type Situation = {
  model: string;
  question: string;
  /** Names of all offered tools, including the agent's own. */
  offers: string[];
  /** The decision that the offered tools ask for. */
  stage: Stage;
  /** Whether the reply must call a tool. */
  forced: boolean;
  /** Aliases that the vote tool accepts. */
  aliases: string[];
  /** All answers in the conversation by first appearance, each with its newest text. */
  shown: ShownAnswer[];
  /** The answers of the latest message with answers after the first message. */
  news: ShownAnswer[];
  /** Number of messages with answers after the first user message. */
  updates: number;
  /** Number of replies in this conversation. */
  callIndex: number;
  toolResults: { id: string; text: string }[];
  asked: ModelInput;
};

export type ShownAnswer = { alias: string; text: string };

/** `at_limit`: answers were possible before. */
export type Stage =
  | "first_answer"
  | "deciding"
  | "at_limit"
  | "presentation"
  | "judgement"
  | "personas";

type Block = { title: string; text: string };

/** Interprets a request. Never throws: a conversation without blocks is a question. */
export function toSituation(asked: ModelInput): Situation {
  const offers = asked.tools.map(({ name }) => name);
  const readable = asked.messages.filter(({ role }) => role !== "assistant");
  const nonce = nonceIn(readable);
  const perMessage = readable.map((message) => blocksIn(message.text, nonce));
  const updates = perMessage.slice(1).map(answersIn).filter(hasSome);
  return {
    model: asked.model,
    question: questionIn(perMessage[0] ?? [], readable[0]),
    offers,
    stage: stageOf(offers),
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

/** Consecutive items of the model are one reply in every format. */
const repliesIn = ({ messages }: ModelInput): number =>
  messages.filter(({ role }, at) => role === "assistant" && messages[at - 1]?.role !== "assistant")
    .length;

function stageOf(offers: string[]): Stage {
  if (offers.includes("assign_personas")) return "personas";
  if (offers.includes("submit")) return "judgement";
  if (offers.includes("new_answer")) return offers.includes("vote") ? "deciding" : "first_answer";
  return offers.includes("vote") ? "at_limit" : "presentation";
}

/** The nonce of the service's own blocks. Blocks with another nonce are quoted imitations. */
function nonceIn(messages: ModelMessage[]): string | null {
  for (const message of messages) {
    const nonce = /<<<(\S+) [A-Z]/.exec(message.text)?.[1];
    if (nonce) return nonce;
  }
  return null;
}

/** All blocks, outer before inner: `<<<nonce TITLE>>>` … `<<<nonce END TITLE>>>`. */
function blocksIn(text: string, nonce: string | null): Block[] {
  const blocks: Block[] = [];
  const opening = /<<<(\S+) (?!END )([^<>\n]+)>>>/g;
  for (let found = opening.exec(text); found; found = opening.exec(text)) {
    const [mark, itsNonce, title = ""] = found;
    const start = found.index + mark.length;
    const end = itsNonce === nonce ? text.indexOf(`<<<${nonce} END ${title}>>>`, start) : -1;
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

const hasSome = (answers: ShownAnswer[]): boolean => answers.length > 0;
