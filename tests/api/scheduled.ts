import { createExecutionContext, createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { vi } from "vitest";
import worker from "../../src/worker";

/** The daily trigger while the clock says `now`; its own time, which a request may claim, is far off. */
export function sweepAt(now: number): Promise<void> {
  const trigger = createScheduledController({ scheduledTime: 0, cron: "23 3 * * *" });
  vi.useFakeTimers({ toFake: ["Date"], now });
  return worker.scheduled(trigger, env, createExecutionContext()).finally(() => vi.useRealTimers());
}
