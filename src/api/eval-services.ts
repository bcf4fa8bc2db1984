import type { EvalRecords } from "../../d1/eval-records";
import type { EvalRunApi } from "../../durable-objects/eval-run/eval-run-api";

/** What routes and the cron need of evaluations. */
export type EvalServices = {
  /** Suites on offer: name → YAML. */
  suites: Readonly<Record<string, string>>;
  /** Whose runs those of cron are; null: none may run. */
  cronTenant: string | null;
  start: EvalRunApi["start"];
  records: Pick<EvalRecords, "latest" | "runs" | "run">;
};
