import type { EvalRun, EvalStarted } from "../../protocol/api/evals";
import { evalRunPath } from "../../protocol/paths";

export const RUN_PAGE = { defaultSize: 20, maxSize: 100 };

export const toStarted = ({ id, suite }: Pick<EvalRun, "id" | "suite">): EvalStarted => ({
  id,
  suite,
  status: "running",
  links: { run: evalRunPath(suite, id) },
});

export const listOf = <T>(data: T[], first: string | undefined, last = first) => ({
  object: "list" as const,
  data,
  first_id: first ?? null,
  last_id: last ?? null,
  has_more: false,
});
