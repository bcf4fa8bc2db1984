import { createExecutionContext, createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { vi } from "vitest";
import worker from "../../src/worker";

/**
 * The daily trigger at the time `now` of the clock. The time in the request is far off and must be
 * ignored.
 */
export function sweepAt(now: number): Promise<void> {
  const trigger = createScheduledController({ scheduledTime: 0, cron: "23 3 * * *" });
  vi.useFakeTimers({ toFake: ["Date"], now });
  return worker.scheduled(trigger, env, createExecutionContext()).finally(() => vi.useRealTimers());
}
