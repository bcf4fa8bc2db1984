import type { ToolNotification } from "../../../src/protocol/events/tool";
import type { Chance } from "../../../simulated/chance";

const ORIGIN = "https://far.example.com";

/**
 * Draws the notifications of a tool server during a call: often none, sometimes more than the
 * service forwards.
 */
export function drawNotifications(chance: Chance): ToolNotification[] {
  if (chance.is(0.5)) return [];
  const count =
    chance.weighted({ few: 6, many: 1 }) === "few" ? chance.int(1, 4) : chance.int(20, 80);
  return Array.from({ length: count }, (_, nth) =>
    chance.is(0.7) ? progress(chance, nth + 1) : question(chance),
  );
}

const progress = (chance: Chance, nth: number): ToolNotification => ({
  type: "progress",
  origin: ORIGIN,
  // Infinity is possible, because a JSON parser returns it for 1e999.
  progress: chance.is(0.05) ? Number.POSITIVE_INFINITY : nth,
  total: chance.pick([null, 100]),
  message: chance.pick([null, "", "reads", "x".repeat(5_000)]),
});

const question = (chance: Chance): ToolNotification => ({
  type: "elicitation",
  origin: ORIGIN,
  requests: Array.from({ length: chance.int(0, 8) }, () => ({
    kind: chance.pick(["form", "url", "other"]),
    message: chance.pick(["", "Your password?", "😀".repeat(1_025)]),
    url: chance.pick([null, "https://pay.example.com/x"]),
    refused: null,
  })),
});
