import type { Format } from "../../../simulated/providers/dialect";
import { ALWAYS, type FaultRow, KEY, MOST_REQUESTS, WIRES } from "./fault-row";
import type { WireFault } from "./fault-server";

const failWith =
  (status: number, headers: Readonly<Record<string, string>> = {}) =>
  (): WireFault => ({
    kind: "answer",
    status,
    headers,
    body: JSON.stringify({ error: { message: `The provider is not well (${status}).` } }),
  });

/**
 * A response with an error of this class, as the format expresses it. Its text contains the key.
 */
const refuseWith =
  (failureClass: string, status?: number) =>
  (format: Format): WireFault => {
    const errorCase = WIRES[format].errors.find(
      (one) => one.failureClass === failureClass && one.status < 413,
    );
    if (!errorCase) throw new Error(`${format} has no words for ${failureClass}`);
    const body = JSON.stringify(errorCase.body).replace(
      '"message":"',
      `"message":"The key ${KEY}: `,
    );
    return { kind: "answer", status: status ?? errorCase.status, body };
  };

const inASecond = (): WireFault => ({
  kind: "answer",
  status: 429,
  headers: { "retry-after": new Date(Date.now() + 1_000).toUTCString() },
  body: "{}",
});

const RATE_LIMITS: readonly FaultRow[] = [
  {
    fault: "429 without a wait",
    calls: 1,
    make: failWith(429),
    codes: ["rate_limited"],
    end: "goes on",
  },
  {
    fault: "429, retry-after: 1",
    calls: 1,
    make: failWith(429, { "retry-after": "1" }),
    codes: ["rate_limited"],
    end: "goes on",
  },
  {
    fault: "429, retry-after-ms: 300",
    calls: 1,
    make: failWith(429, { "retry-after-ms": "300" }),
    codes: ["rate_limited"],
    end: "goes on",
  },
  {
    fault: "429, retry-after with a date",
    calls: 1,
    make: inASecond,
    codes: ["rate_limited"],
    end: "goes on",
  },
  {
    fault: "429, retry-after: 1000000000",
    calls: 1,
    make: failWith(429, { "retry-after": "1000000000" }),
    codes: ["rate_limited"],
    end: "goes on",
  },
  {
    fault: "429, retry-after: 1000000000, always",
    calls: ALWAYS,
    make: failWith(429, { "retry-after": "1000000000" }),
    codes: ["rate_limited"],
    end: "fails",
    requests: 3,
  },
  {
    fault: "429 always",
    calls: ALWAYS,
    make: failWith(429),
    codes: ["rate_limited"],
    end: "fails",
    requests: MOST_REQUESTS,
  },
];

const SERVER_ERRORS: readonly FaultRow[] = [500, 502, 503, 524, 529].flatMap((status) => [
  {
    fault: `${status} once`,
    calls: 1,
    make: failWith(status),
    codes: ["server_error", "overloaded", "timeout"],
    end: "goes on" as const,
  },
  {
    fault: `${status} always`,
    calls: ALWAYS,
    make: failWith(status),
    codes: ["server_error", "overloaded", "timeout"],
    end: "fails" as const,
    requests: MOST_REQUESTS,
  },
]);

const REFUSALS: readonly FaultRow[] = [
  {
    fault: "400 context too long once",
    calls: 1,
    make: refuseWith("context_too_long"),
    codes: ["context_too_long"],
    end: "goes on",
  },
  {
    fault: "400 context too long, with work behind it",
    calls: 1,
    after: 4,
    works: true,
    make: refuseWith("context_too_long"),
    codes: ["context_too_long"],
    end: "goes on",
  },
  {
    fault: "400 context too long always",
    calls: ALWAYS,
    make: refuseWith("context_too_long"),
    codes: ["context_too_long"],
    end: "fails",
    requests: 3,
  },
  {
    fault: "401",
    calls: ALWAYS,
    make: refuseWith("bad_credentials", 401),
    codes: ["bad_credentials"],
    end: "fails",
    requests: 1,
  },
  {
    fault: "403",
    calls: ALWAYS,
    make: refuseWith("bad_credentials", 403),
    codes: ["bad_credentials"],
    end: "fails",
    requests: 1,
  },
];

/** The provider responds with an error status. */
export const STATUS_ROWS: readonly FaultRow[] = [...RATE_LIMITS, ...SERVER_ERRORS, ...REFUSALS];
