import { toCostFields } from "../../protocol/cost";
import type { Draft } from "../draft";
import { spentCost } from "../state";

/** The totals that the last event of a turn has. */
export const turnTotals = (draft: Draft) => ({
  usage: draft.turn.usage,
  ...toCostFields(spentCost(draft.turn)),
});
