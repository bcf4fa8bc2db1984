import { createExecutionContext, createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { vi } from "vitest";
import worker from "../../src/worker";

/**
 * Runs the daily trigger while the clock shows `now`. The time in the request of the trigger is
 * 1970, and the service must ignore it.
 */
export function sweepAt(now: number): Promise<void> {
  const trigger = createScheduledController({ scheduledTime: 0, cron: "23 3 * * *" });
  vi.useFakeTimers({ toFake: ["Date"], now });
  return worker.scheduled(trigger, env, createExecutionContext()).finally(() => vi.useRealTimers());
}
