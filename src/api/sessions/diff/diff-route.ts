import { accepts } from "hono/accepts";
import * as z from "zod";
import type { ContextPoint, DiffPoint } from "../../../../durable-objects/session/session-api";
import { DIFF_LIMITS } from "../../../diff/diff-limits";
import { patchText } from "../../../diff/patch-text";
import { formatReference } from "../../../diff/references";
import { type Diff, DiffSchema } from "../../../protocol/api/diff";
import { EMPTY_TREE } from "../../../workspace/tree";
import type { Tree } from "../../../workspace/types";
import type { App, Call } from "../../api-env";
import { attachment } from "../../attachment";
import { ApiError } from "../../errors";
import { ID, json, type Operation } from "../../operation";
import { refuse, route, sessionOf } from "../../routes";
import { contextRoot, type ContextSource, workspaceRoot } from "./diff-contents";
import { DIFF, PATCH } from "./diff-examples";
import { type DiffPoints, readPoints, referencesOf } from "./diff-points";
import { FileDiffer } from "./file-differ";

const JSON_TYPE = "application/json";
const PATCH_TYPE = "text/x-diff";

const reference = z
  .string()
  .regex(/^(parent|turn_[1-9]\d{0,8}(\/(attempt_[1-9]\d{0,3}\/)?agent[1-9]\d?\.(\d+|final))?)$/)
  .optional();
const QUERY = z.object({
  from: reference.describe(
    "The old point: `parent` (the parent of the other reference's turn), `turn_2`, `turn_2/agent1.1` or `turn_2/attempt_1/agent1.1`. Default: `parent`",
  ),
  to: reference.describe("The new point, in the same forms. Default: the latest completed turn"),
  format: z
    .enum(["json", "diff"])
    .optional()
    .describe("Format of the response. Default: as `accept` prefers, else `json`"),
});

const OPERATION: Operation = {
  id: "getDiff",
  tag: "Sessions",
  summary: "What changed between two points of a session: files with hunks, and answers by words",
  description: `A turn has the files and the final answer as it ended; without a result, the files that it began with. An answer has its own files, and the contexts as its turn began with them. Without attempt, the latest attempt that has the label counts. The parent of the first turn has no files and no answer. If only one point has a context, the user's version is the other side. Renamed files have equal contents. Binary files, files over 1 MB, and files whose comparison needs too many steps are given by size and hash. At most ${DIFF_LIMITS.files.toLocaleString("en-US")} files are listed. \`${PATCH_TYPE}\` has the files only, for \`git apply\`.`,
  request: { params: ID, query: QUERY },
  responses: {
    200: {
      ...json("The differences", DiffSchema, DIFF),
      content: {
        [JSON_TYPE]: { schema: DiffSchema, example: DIFF },
        [PATCH_TYPE]: { schema: z.string(), example: PATCH },
      },
    },
  },
  codes: ["bad_id", "bad_query", "session_not_found", "reference_not_found", "interrupted"],
  handle: showDiff,
};

/** The route that compares two points of a session. */
export function diffRoutes(app: App): void {
  route(app, "/api/sessions/{id}/diff", { get: OPERATION });
}

async function showDiff(context: Call): Promise<Response> {
  const references = referencesOf(context.req.query("from"), context.req.query("to"));
  const type = typeOf(context);
  const { id, stub } = await sessionOf(context);
  const points = await readPoints(stub, references);
  const { tenant } = context.var.principal;
  const { reader } = context.env.contexts;
  const diff = await diffOf(id, points, { stub, reader, tenant });
  context.header("vary", "accept");
  if (type === JSON_TYPE) return context.json(diff);
  const bytes = new TextEncoder().encode(patchText(diff.data, diff.more));
  return attachment(context, `${id}.diff`, new Blob([bytes]).stream(), PATCH_TYPE);
}

/** The media type of the response. Throws `bad_query`. */
function typeOf(context: Call): string {
  const format = context.req.query("format");
  if (format === "json") return JSON_TYPE;
  if (format === "diff") return PATCH_TYPE;
  if (format !== undefined)
    throw new ApiError("bad_query", "`format` is `json` or `diff`, or omitted.");
  return accepts(context, {
    header: "Accept",
    supports: [JSON_TYPE, PATCH_TYPE],
    default: JSON_TYPE,
  });
}

async function diffOf(
  session_id: string,
  { from, to }: DiffPoints,
  source: ContextSource,
): Promise<Diff> {
  const differ = new FileDiffer();
  await differ.add(workspaceRoot(source.stub, treeOf(from), treeOf(to)));
  const unavailable: string[] = [];
  // One context after the other, so that only the trees of one context are in memory.
  for (const name of new Set([...(from?.contexts ?? []), ...(to?.contexts ?? [])])) {
    const states = {
      from: await stateOf(source, from, name),
      to: await stateOf(source, to, name),
    };
    const root = await contextRoot(name, states, source);
    if (root === null) unavailable.push(name);
    else await differ.add(root);
  }
  const answer = await differ.answer(from?.text ?? null, to?.text ?? null);
  const { counts, files: data, more } = differ;
  return {
    object: "diff",
    session_id,
    from: toPoint(from),
    to: toPoint(to),
    ...{ counts, data, more },
    ...(unavailable.length > 0 && { unavailable_contexts: unavailable }),
    answer,
  };
}

const treeOf = (point: DiffPoint | null): Tree =>
  point === null ? EMPTY_TREE : new Map(point.tree.map(({ path, ...entry }) => [path, entry]));

async function stateOf(
  { stub }: ContextSource,
  point: DiffPoint | null,
  context: string,
): Promise<ContextPoint | null> {
  if (point === null || !point.contexts.includes(context)) return null;
  const { turn, isEnd } = point;
  const result = await stub.contextPoint({ turn, context, isEnd });
  return result.ok ? result.state : refuse(result.code);
}

function toPoint(point: DiffPoint | null): Diff["from"] {
  if (point === null)
    return { reference: "parent", turn: null, attempt: null, label: null, status: null };
  const { turn, attempt, label, status } = point;
  const named = attempt === null ? null : label;
  return {
    reference: formatReference({ turn, attempt, label: named }),
    turn,
    attempt,
    label,
    status,
  };
}
