import { sha256 } from "../../local/sha256";
import * as z from "zod";
import type { Reply, Script } from "./reply";
import { byStage, call, newAnswer, vote } from "./scripts";
import type { Situation } from "./situation";

/**
 * A model for conversations with branches. It does what the orders in its question say, and its
 * texts say what it was shown of earlier turns. So a test can predict its texts without a model.
 */

const EditSchema = z.object({
  /** Absolute path. */
  path: z.string(),
  /** `null` removes the file. Omitted for a file that is moved. */
  contents: z.string().nullish(),
  /** Absolute old path of a file that is moved. Omitted for other edits. */
  from: z.string().optional(),
});
export type OrderedEdit = z.infer<typeof EditSchema>;

export const OrdersSchema = z.object({
  /** Number of the question. In a session, only a repetition has the same number. */
  id: z.number(),
  /**
   * `failed`: the provider refuses every request. `stalled`: the presenter makes its edits, sends a
   * part of its text, and then nothing more.
   */
  ends: z.enum(["completed", "failed", "stalled"]),
  /** Paths of files that the agent reads first. */
  reads: z.array(z.string()),
  /** Edits before the answer. Only files of the workspace can be changed then. */
  answer: z.array(EditSchema),
  /** Edits of the presenter. */
  final: z.array(EditSchema),
  /** Edits of a presentation that its presenter rejects; `null` if it rejects none. */
  rejected: z.array(EditSchema).nullable(),
  /** Text that only makes the question long. Omitted: none. */
  text: z.string().optional(),
  /** `refused`: no model summarises a history whose last question is this one. */
  summary: z.literal("refused").optional(),
});
export type Orders = z.infer<typeof OrdersSchema>;

/**
 * An earlier turn as the agent reads it. `tools`: those that its unfinished reply executed.
 * `isCut`: whether a part of its texts is missing; omitted means no.
 */
export type ReadTurn = {
  id: number;
  reply: string | null;
  isUnfinished: boolean;
  tools: readonly string[];
  isCut?: boolean;
};

/** A summary as the agent reads it. `messages`: the number of messages that it replaces. */
export type ReadSummary = { summary: string; messages: number };

export type ReadEntry = ReadTurn | ReadSummary;

export const ordersText = (orders: Orders): string =>
  `Question ${orders.id}. ${JSON.stringify(orders)}`;

/** Lines of file contents begin with this mark. Texts name the contents that were read by it. */
export const contentsMark = (nth: number): string => `c${nth}c`;
const CONTENTS_MARK = /c\d+c/;

/** What an agent was shown. `reads`: the marks of the files that it read; `none` without a file. */
export type Sight = { history: readonly ReadEntry[]; reads: readonly string[] };

/** The text of an answer. */
export const answerText = ({ id }: Pick<Orders, "id">, shown: Sight): string =>
  `Answer ${id}. ${recount(shown)}`;

/** The final text of a presentation. `attempt`: the number of the attempt. */
export const finalText = (
  { id, attempt }: Pick<Orders, "id"> & { attempt: number },
  shown: Sight,
): string => `Final text ${id} of attempt ${attempt}. ${recount(shown)}`;

/** The answer of the model `witness`. It is shorter, so that nobody votes for it. */
export const shortAnswer = ({ id }: Pick<Orders, "id">): string => `Short ${id}.`;

/** The whole text of a presentation that stalls. Only a part of it is sent. */
export const stalledText = ({ id }: Pick<Orders, "id">): string =>
  `Unfinished text ${id}, ${"without an end ".repeat(8)}`;
const STALLED_TOKENS = 12;

/** A summary of earlier turns. */
export const summaryText = (history: readonly ReadEntry[]): string =>
  `Summary of ${recountHistory(history)}.`;

const recount = ({ history, reads }: Sight): string =>
  `Earlier: ${recountHistory(history)}. Read: ${reads.join(" ") || "nothing"}.`;

const recountHistory = (history: readonly ReadEntry[]): string =>
  history.map(recountEntry).join("; ") || "nothing";

function recountEntry(entry: ReadEntry): string {
  if ("summary" in entry) return `summary of ${entry.messages} messages ${digestOf(entry.summary)}`;
  const { id, reply, isUnfinished, tools, isCut } = entry;
  return [
    `question ${id}`,
    ...(isUnfinished ? ["unfinished"] : []),
    isCut ? "cut" : reply === null ? "no reply" : digestOf(reply),
    ...tools,
  ].join(" ");
}

/** By the text of an answer: whether each earlier turn that its author read in a block was cut. */
export function cutTurnsIn(answer: string): boolean[] {
  const [, turns = ""] = /Earlier: (.*?)\. Read: /s.exec(answer) ?? [];
  return turns
    .split("; ")
    .filter((turn) => turn.startsWith("question "))
    .map((turn) => turn.split(" ").includes("cut"));
}

const digestOf = (text: string): string => sha256(text).slice(0, 12);

const chronicler: Script = (situation) => {
  if (situation.stage === "summary") return summarise(promptOf(situation));
  const orders = ordersIn(situation.question);
  if (orders === null) return { text: "There are no orders in this question." };
  if (orders.ends === "failed") return { fail: { status: 401, message: "refused as ordered" } };
  const isAgain = promptOf(situation).includes("REJECTED REPLY>>>");
  if (situation.stage === "judgement" && orders.rejected !== null && !isAgain)
    return call("restart_orchestration", { reason: "as ordered", instructions: "do it again" });
  return obey(orders, isAgain)(situation);
};

/** Summarises the earlier turns of a prompt, unless the last of them forbids it. */
function summarise(prompt: string): Reply {
  const history = historyIn(prompt);
  const latest = history.at(-1);
  const orders = latest && "question" in latest ? ordersIn(latest.question) : null;
  return orders?.summary === "refused"
    ? { fail: { status: 400, message: "refused as ordered" } }
    : { text: summaryText(history) };
}

/** A second agent, so that a turn has answers and votes. It never wins. */
const witness: Script = (situation) => {
  const orders = ordersIn(situation.question);
  return situation.stage === "first_answer" && orders?.ends !== "failed"
    ? newAnswer(shortAnswer({ id: orders?.id ?? 0 }))
    : chronicler(situation);
};

export const TREE_MODELS: Readonly<Record<string, Script>> = { chronicler, witness };

const obey = (orders: Orders, isAgain: boolean): Script =>
  byStage({
    answering: (situation) =>
      stepOf([...orders.reads.map(readOf), ...orders.answer.map(editOf)], situation) ??
      newAnswer(answerText(orders, shownIn(situation, orders.reads))),
    deciding: (situation) => vote(situation),
    presenting: (situation) => {
      const isRejected = orders.rejected !== null && !isAgain;
      const edits = (isRejected ? orders.rejected : orders.final) ?? [];
      // The only agent of a team presents without an answer, so that it reads now.
      const reads = situation.shown.length === 0 ? orders.reads : [];
      const step = stepOf([...reads.map(readOf), ...edits.map(editOf)], situation);
      if (step) return step;
      if (orders.ends === "stalled" && !isRejected)
        return { text: stalledText(orders), hang: "body", cutAfterChunks: STALLED_TOKENS };
      const attempt = isAgain ? 2 : 1;
      return { text: finalText({ id: orders.id, attempt }, shownIn(situation, reads)) };
    },
  });

/** The next tool call; `null` if all calls were made. */
const stepOf = (steps: readonly Reply[], { callIndex }: Situation): Reply | null =>
  steps[callIndex] ?? null;

const shownIn = (situation: Situation, reads: readonly string[]): Sight => ({
  history: historyIn(promptOf(situation)),
  reads: situation.toolResults
    .slice(0, reads.length)
    .map(({ text }) => CONTENTS_MARK.exec(text)?.[0] ?? "none"),
});

const readOf = (path: string): Reply => call("run_command", { command: `cat ${path}` });

/** The tool call that makes an edit. A file must be read before it may be deleted or moved. */
function editOf({ path, contents, from }: OrderedEdit): Reply {
  const folder = path.slice(0, path.lastIndexOf("/"));
  if (from !== undefined)
    return call("run_command", {
      command: `cat ${from} > /dev/null; mkdir -p ${folder}; mv ${from} ${path}`,
    });
  if (contents === null || contents === undefined)
    return call("run_command", { command: `cat ${path} > /dev/null; rm ${path}` });
  return call("write_file", { path, content: contents });
}

function ordersIn(question: string): Orders | null {
  const [, text] = /^Question \d+\. (\{.*\})$/s.exec(question.trim()) ?? [];
  return text === undefined ? null : OrdersSchema.parse(JSON.parse(text));
}

const promptOf = ({ asked }: Situation): string => asked.messages[0]?.text ?? "";

const BLOCK =
  /<<<(\S+) ((?:REPLY TO |UNFINISHED REPLY TO )?EARLIER MESSAGE \d+|EXECUTED TOOLS|SUMMARY OF EARLIER MESSAGES \d+ TO \d+)>>>\n([\s\S]*?)\n<<<\1 END \2>>>/g;

/** The earlier turns in a prompt, in their order, with the texts of their questions. */
function historyIn(prompt: string): ((ReadTurn & { question: string }) | ReadSummary)[] {
  const [history = ""] = prompt.split(/<<<\S+ ORIGINAL MESSAGE>>>/);
  const entries: ((ReadTurn & { question: string; tools: string[] }) | ReadSummary)[] = [];
  for (const [, , title = "", text = ""] of history.matchAll(BLOCK)) {
    const latest = entries.at(-1);
    if (title.startsWith("SUMMARY")) entries.push(summaryIn(title, text));
    else if (title.startsWith("EARLIER")) entries.push(turnWith(text));
    else if (!latest || !("question" in latest)) continue;
    else if (title === "EXECUTED TOOLS")
      latest.tools.push(...text.split("\n").map((line) => line.replace(/^- /, "")));
    else Object.assign(latest, replyIn(title, text, latest.isCut === true));
  }
  return entries;
}

function summaryIn(title: string, summary: string): ReadSummary {
  const [first = 0, last = 0] = (title.match(/\d+/g) ?? []).map(Number);
  return { summary, messages: last - first + 1 };
}

const turnWith = (question: string): ReadTurn & { question: string; tools: string[] } => ({
  ...{ id: idIn(question), question, reply: null, isUnfinished: true, tools: [] },
  isCut: isCut(question) || !question.endsWith("}"),
});

function replyIn(title: string, reply: string, isQuestionCut: boolean) {
  const isUnfinished = title.startsWith("UNFINISHED");
  const isReplyCut = isCut(reply) || (!isUnfinished && !reply.endsWith("."));
  return { reply, isUnfinished, isCut: isQuestionCut || isReplyCut };
}

/** A text that is too short for the mark of a cut only lacks its end. */
const isCut = (text: string): boolean => /\[… \d+ characters left out …\]/.test(text);

const idIn = (question: string): number => Number(/^Question (\d+)\./.exec(question)?.[1]);
