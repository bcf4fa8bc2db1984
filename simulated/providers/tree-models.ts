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
});
export type Orders = z.infer<typeof OrdersSchema>;

/** An earlier turn as the agent reads it. `tools`: those that its unfinished reply executed. */
export type ReadTurn = {
  id: number;
  reply: string | null;
  isUnfinished: boolean;
  tools: readonly string[];
};

export const ordersText = (orders: Orders): string =>
  `Question ${orders.id}. ${JSON.stringify(orders)}`;

/** Lines of file contents begin with this mark. Texts name the contents that were read by it. */
export const contentsMark = (nth: number): string => `c${nth}c`;
const CONTENTS_MARK = /c\d+c/;

/** What an agent was shown. `reads`: the marks of the files that it read; `none` without a file. */
export type Sight = { history: readonly ReadTurn[]; reads: readonly string[] };

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

function recount({ history, reads }: Sight): string {
  const turns = history.map(({ id, reply, isUnfinished, tools }) =>
    [
      `question ${id}`,
      ...(isUnfinished ? ["unfinished"] : []),
      reply === null ? "no reply" : digestOf(reply),
      ...tools,
    ].join(" "),
  );
  return `Earlier: ${turns.join("; ") || "nothing"}. Read: ${reads.join(" ") || "nothing"}.`;
}

const digestOf = (text: string): string => sha256(text).slice(0, 12);

const chronicler: Script = (situation) => {
  const orders = ordersIn(situation.question);
  if (orders === null) return { text: "There are no orders in this question." };
  if (orders.ends === "failed") return { fail: { status: 401, message: "refused as ordered" } };
  const isAgain = promptOf(situation).includes("REJECTED REPLY>>>");
  if (situation.stage === "judgement" && orders.rejected !== null && !isAgain)
    return call("restart_orchestration", { reason: "as ordered", instructions: "do it again" });
  return obey(orders, isAgain)(situation);
};

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
  /<<<(\S+) ((?:REPLY TO |UNFINISHED REPLY TO )?EARLIER MESSAGE \d+|EXECUTED TOOLS)>>>\n([\s\S]*?)\n<<<\1 END \2>>>/g;

/** The earlier turns in a prompt, in their order. */
function historyIn(prompt: string): ReadTurn[] {
  const [history = ""] = prompt.split(/<<<\S+ ORIGINAL MESSAGE>>>/);
  const turns: { id: number; reply: string | null; isUnfinished: boolean; tools: string[] }[] = [];
  for (const [, , title = "", text = ""] of history.matchAll(BLOCK)) {
    const latest = turns.at(-1);
    if (title.startsWith("EARLIER"))
      turns.push({ id: idIn(text), reply: null, isUnfinished: true, tools: [] });
    else if (latest && title === "EXECUTED TOOLS")
      latest.tools.push(...text.split("\n").map((line) => line.replace(/^- /, "")));
    else if (latest)
      Object.assign(latest, { reply: text, isUnfinished: title.startsWith("UNFINISHED") });
  }
  return turns;
}

const idIn = (question: string): number => Number(/^Question (\d+)\./.exec(question)?.[1]);
