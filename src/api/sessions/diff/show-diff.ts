import { accepts } from "hono/accepts";
import type { ContextPoint, DiffPoint } from "../../../../durable-objects/session/session-api";
import { patchText } from "../../../diff/patch-text";
import { formatReference } from "../../../diff/references";
import { type Diff, JSON_TYPE, PATCH_TYPE } from "../../../protocol/api/diff";
import { EMPTY_TREE } from "../../../workspace/tree";
import type { Tree } from "../../../workspace/types";
import type { Call } from "../../api-env";
import { attachment } from "../../attachment";
import { ApiError } from "../../errors";
import { refuse, sessionOf } from "../../routes";
import { contextRoot, type ContextSource, workspaceRoot } from "./diff-contents";
import { type DiffPoints, readPoints, referencesOf } from "./diff-points";
import { FileDiffer } from "./file-differ";

/** Compares the two points that the query names. Throws `bad_query` and the refusals of points. */
export async function showDiff(context: Call): Promise<Response> {
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
