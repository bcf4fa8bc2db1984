import { type ChatMessage, type ChatRequest, VoteParametersSchema } from "./schema";

/**
 * What a model finds itself in, read from a raw request the way a model would read it: from the blocks the service puts into
 * its messages and from the tools it offers. Scripts decide on this alone.
 */
export type Situation = {
  model: string;
  question: string;
  /** Names of all tools offered, the agent's own among them. */
  offers: string[];
  /** What the offered tools ask for. */
  stage: Stage;
  /** Whether the reply must call a tool. */
  forced: boolean;
  /** Whom the vote tool lets one vote for. */
  aliases: string[];
  /** All answers in the conversation, in the order they first appeared, each with its newest text. */
  shown: ShownAnswer[];
  /** The answers of the last message that brought any after the first. */
  news: ShownAnswer[];
  /** How many messages brought answers after the first user message. */
  updates: number;
  /** Replies given so far in this conversation. */
  callIndex: number;
  toolResults: { id: string; text: string }[];
  raw: ChatRequest;
};

export type ShownAnswer = { alias: string; text: string };

/** `at_limit`: answers were possible and are no more. */
export type Stage = "first_answer" | "deciding" | "at_limit" | "presentation" | "judgement" | "personas";

type Block = { title: string; text: string };

/** Reads a request. Never throws: a conversation without any block is all question. */
export function toSituation(raw: ChatRequest): Situation {
  const offers = (raw.tools ?? []).map((tool) => tool.function.name);
  const readable = raw.messages.filter(({ role }) => role === "user" || role === "tool");
  const nonce = nonceIn(readable);
  const perMessage = readable.map((message) => blocksIn(textOf(message), nonce));
  const updates = perMessage.slice(1).map(answersIn).filter(hasSome);
  return {
    model: raw.model,
    question: questionIn(perMessage[0] ?? [], readable[0]),
    offers,
    stage: stageOf(offers),
    forced: raw.tool_choice !== undefined && raw.tool_choice !== "auto" && raw.tool_choice !== "none",
    aliases: aliasesOffered(raw),
    shown: newestPerAlias(perMessage.flatMap(answersIn)),
    news: updates.at(-1) ?? [],
    updates: updates.length,
    callIndex: raw.messages.filter(({ role }) => role === "assistant").length,
    toolResults: readable.filter(({ role }) => role === "tool").map((m) => ({ id: m.tool_call_id ?? "", text: textOf(m) })),
    raw,
  };
}

/** The text of a message, whether it came as one string or in parts. */
export function textOf({ content }: ChatMessage): string {
  if (!content) return "";
  return typeof content === "string" ? content : content.map((part) => part.text ?? "").join("");
}

function stageOf(offers: string[]): Stage {
  if (offers.includes("assign_personas")) return "personas";
  if (offers.includes("submit")) return "judgement";
  if (offers.includes("new_answer")) return offers.includes("vote") ? "deciding" : "first_answer";
  return offers.includes("vote") ? "at_limit" : "presentation";
}

/** The mark of the service's own blocks. Blocks with another one are quoted text that pretends. */
function nonceIn(messages: ChatMessage[]): string | null {
  for (const message of messages) {
    const nonce = /<<<(\S+) [A-Z]/.exec(textOf(message))?.[1];
    if (nonce) return nonce;
  }
  return null;
}

/** All blocks, outer ones before those inside them: `<<<nonce TITLE>>>` … `<<<nonce END TITLE>>>`. */
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

function questionIn(blocks: Block[], first: ChatMessage | undefined): string {
  const block = blocks.find(({ title }) => title.startsWith("ORIGINAL MESSAGE"));
  return block ? block.text : first ? textOf(first).trim() : "";
}

function newestPerAlias(answers: ShownAnswer[]): ShownAnswer[] {
  const newest = new Map(answers.map(({ alias, text }) => [alias, text]));
  return [...newest].map(([alias, text]) => ({ alias, text }));
}

function aliasesOffered(raw: ChatRequest): string[] {
  const vote = raw.tools?.find((tool) => tool.function.name === "vote");
  const parameters = VoteParametersSchema.safeParse(vote?.function.parameters);
  return parameters.success ? (parameters.data.properties.agent_id?.enum ?? []) : [];
}

const hasSome = (answers: ShownAnswer[]): boolean => answers.length > 0;
