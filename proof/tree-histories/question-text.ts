import { type OrderedEdit, ordersText } from "../../simulated/providers/tree-models";
import type { Ask, Edit, Root } from "./operations";
import { contentsOf } from "./state";

/** What a question orders. `edits`: those that the files allow. */
export type OrderedAsk = {
  id: number;
  ask: Ask;
  edits: Pick<Ask, "answer" | "final" | "rejected">;
  refusesSummary: boolean;
};

const FILLER = "and on and on ";

/** The text of a question to models that report what they read. */
export function questionText(
  { id, ask, edits, refusesSummary }: OrderedAsk,
  context: string,
): string {
  const absolute = (root: Root, path: string): string =>
    root === "workspace" ? `/workspace/${path}` : `/contexts/${context}/${path}`;
  const ordered = (list: readonly Edit[]): OrderedEdit[] =>
    list.map((edit) => {
      const path = absolute(edit.root, edit.kind === "move" ? edit.to : edit.path);
      if (edit.kind === "write") return { path, contents: contentsOf(edit.contents) };
      if (edit.kind === "remove") return { path, contents: null };
      return { path, from: absolute(edit.root, edit.path) };
    });
  return ordersText({
    id,
    ends: ask.ends === "cancelled" ? "stalled" : ask.ends,
    reads: ask.reads.map(({ root, path }) => absolute(root, path)),
    answer: ordered(edits.answer),
    final: ordered(edits.final),
    rejected: edits.rejected && ordered(edits.rejected),
    ...(ask.length > 0 && {
      text: FILLER.repeat(Math.ceil(ask.length / FILLER.length)).slice(0, ask.length),
    }),
    ...(refusesSummary && { summary: "refused" }),
  });
}
