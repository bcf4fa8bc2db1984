import { describe } from "vitest";
import { fails } from "../builders";
import { table } from "../rule-table";
import type { World } from "../world";

describe("a failed call", () => {
  table([
    ...["connection_failed", "stream_cut", "overloaded", "timeout"].map((code) => ({
      name: `is retried after 100 to 300 ms for the first time, if the code is ${code}`,
      when: (world: World) => world.does("a", fails({ code })),
      then: ["call.failed a transient retry in 244"],
    })),
    ...["rate_limited", "conflict", "bad_response"].map((code) => ({
      name: `is retried with back-off also for the first time, if the code is ${code}`,
      when: (world: World) => world.does("a", fails({ code })),
      then: ["call.failed a transient retry in 860"],
    })),
  ]);
});
