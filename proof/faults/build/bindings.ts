import type { Env } from "../../../src/env";
import { overrideMembers } from "./context";
import { markPoint, callSeam } from "./state";

/**
 * The deployment's bindings, with a crash point before and after each call, and with the ordered
 * failures.
 */
export function faultyBindings(env: Env): Env {
  return {
    ...env,
    DB: faultyDatabase(env.DB),
    BUCKET: faultyBucket(env.BUCKET),
    TENANTS: faultyNamespace(env.TENANTS, "tenant"),
    SESSIONS: faultyNamespace(env.SESSIONS, "object"),
  };
}

/** Makes a call of a seam between two crash points. `emptyResult`: see `callSeam`. */
async function callWithPoints<T>(
  seam: "d1" | "r2" | "tenant" | "object",
  callText: string,
  call: () => Promise<T>,
  emptyResult?: T,
): Promise<T> {
  markPoint(`${seam}.before`);
  const result = await callSeam(seam, callText, call, emptyResult);
  markPoint(`${seam}.after`);
  return result;
}

/** For each wrapped statement, the real statement and its SQL. */
const statements = new WeakMap<D1PreparedStatement, { real: D1PreparedStatement; sql: string }>();

function faultyDatabase(real: D1Database): D1Database {
  return overrideMembers(real, {
    prepare: (sql: string) => faultyStatement(real.prepare(sql), sql),
    batch: (wrapped: D1PreparedStatement[]) => {
      const statementsWithSql = wrapped.map(
        (statement) => statements.get(statement) ?? { real: statement, sql: "" },
      );
      return callWithPoints("d1", statementsWithSql.map(({ sql }) => sql).join("; "), () =>
        real.batch(statementsWithSql.map((statement) => statement.real)),
      );
    },
  });
}

function faultyStatement(real: D1PreparedStatement, sql: string): D1PreparedStatement {
  const wrapped: D1PreparedStatement = overrideMembers(real, {
    bind: (...values: unknown[]) => faultyStatement(real.bind(...values), sql),
    first: () => callWithPoints("d1", sql, () => real.first(), null),
    run: () => callWithPoints("d1", sql, () => real.run()),
    all: () => callWithPoints("d1", sql, () => real.all()),
  });
  statements.set(wrapped, { real, sql });
  return wrapped;
}

type RestOfPut = [contents: string | Uint8Array | ReadableStream, options?: R2PutOptions];

function faultyBucket(real: Env["BUCKET"]): Env["BUCKET"] {
  return overrideMembers(real, {
    put: (key: string, ...rest: RestOfPut) =>
      callWithPoints("r2", `put ${key}`, () => real.put(key, ...rest)),
    get: (key: string, options: R2GetOptions = {}) =>
      callWithPoints("r2", `get ${key}`, () => real.get(key, options)),
    head: (key: string) => callWithPoints("r2", `head ${key}`, () => real.head(key)),
    list: (options: R2ListOptions) => callWithPoints("r2", "list", () => real.list(options)),
    delete: (keys: string[]) => callWithPoints("r2", "delete", () => real.delete(keys)),
  });
}

/**
 * Calls of a tenant that have crash points of their own, for turns after the first, which a queue
 * may start: `admit.before` before the tenant is asked for the place of a turn, `settle.before`
 * before the tenant gets the cost of a turn, and `after` when it has answered.
 */
const TURN_CALLS: Readonly<Record<string, string>> = { startTurn: "admit", endTurn: "settle" };

/** Wraps the stubs of a Durable Object namespace. The call text of a call is its method's name. */
function faultyNamespace<Stub extends { get(id: DurableObjectId): object }>(
  real: Stub,
  seam: "tenant" | "object",
): Stub {
  return overrideMembers(real, { get: (id: DurableObjectId) => faultyStub(real.get(id), seam) });
}

function faultyStub(stub: object, seam: "tenant" | "object"): object {
  return new Proxy(stub, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function" || name === "fetch")
        return typeof member === "function" ? member.bind(target) : member;
      const call = (...args: unknown[]) =>
        callWithPoints(seam, String(name), () => Reflect.apply(member, target, args));
      const turnCall = seam === "tenant" ? TURN_CALLS[String(name)] : undefined;
      return turnCall === undefined ? call : withTurnPoints(turnCall, call);
    },
  });
}

type StubCall = (...args: unknown[]) => Promise<unknown>;

const withTurnPoints =
  (point: string, call: StubCall): StubCall =>
  async (...args) => {
    const isLater = args.some(isOfLaterTurn);
    if (isLater) markPoint(`${point}.before`);
    const result = await call(...args);
    if (isLater) markPoint(`${point}.after`);
    return result;
  };

const isOfLaterTurn = (arg: unknown): boolean =>
  typeof arg === "object" && arg !== null && "turn" in arg && Number(arg.turn) > 1;
