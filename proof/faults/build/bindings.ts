import type { Env } from "../../../src/env";
import { over } from "./context";
import { reached, through } from "./state";

/** The deployment's bindings, with crash points around each call and with the ordered failures. */
export function faultyBindings(env: Env): Env {
  return {
    ...env,
    DB: faultyDatabase(env.DB),
    BUCKET: faultyBucket(env.BUCKET),
    TENANTS: faultyNamespace(env.TENANTS, "tenant"),
    SESSIONS: faultyNamespace(env.SESSIONS, "object"),
  };
}

async function around<T>(
  seam: "d1" | "r2" | "tenant" | "object",
  words: string,
  call: () => Promise<T>,
  nothing?: T,
): Promise<T> {
  reached(`${seam}.before`);
  const result = await through(seam, words, call, nothing);
  reached(`${seam}.after`);
  return result;
}

/** Wrapped statements with the real statement and its SQL. */
const statements = new WeakMap<D1PreparedStatement, { real: D1PreparedStatement; sql: string }>();

function faultyDatabase(real: D1Database): D1Database {
  return over(real, {
    prepare: (sql: string) => faultyStatement(real.prepare(sql), sql),
    batch: (wrapped: D1PreparedStatement[]) => {
      const known = wrapped.map(
        (statement) => statements.get(statement) ?? { real: statement, sql: "" },
      );
      return around("d1", known.map(({ sql }) => sql).join("; "), () =>
        real.batch(known.map((one) => one.real)),
      );
    },
  });
}

function faultyStatement(real: D1PreparedStatement, sql: string): D1PreparedStatement {
  const wrapped: D1PreparedStatement = over(real, {
    bind: (...values: unknown[]) => faultyStatement(real.bind(...values), sql),
    first: () => around("d1", sql, () => real.first(), null),
    run: () => around("d1", sql, () => real.run()),
    all: () => around("d1", sql, () => real.all()),
  });
  statements.set(wrapped, { real, sql });
  return wrapped;
}

type RestOfPut = [contents: string | Uint8Array | ReadableStream, options?: R2PutOptions];

function faultyBucket(real: Env["BUCKET"]): Env["BUCKET"] {
  return over(real, {
    put: (key: string, ...rest: RestOfPut) =>
      around("r2", `put ${key}`, () => real.put(key, ...rest)),
    get: (key: string, options: R2GetOptions = {}) =>
      around("r2", `get ${key}`, () => real.get(key, options)),
    head: (key: string) => around("r2", `head ${key}`, () => real.head(key)),
    list: (options: R2ListOptions) => around("r2", "list", () => real.list(options)),
    delete: (keys: string[]) => around("r2", "delete", () => real.delete(keys)),
  });
}

/** Wraps the stubs of a Durable Object namespace. A failure matches a call by the method's name. */
function faultyNamespace<Stub extends { get(id: DurableObjectId): object }>(
  real: Stub,
  seam: "tenant" | "object",
): Stub {
  return over(real, { get: (id: DurableObjectId) => faultyStub(real.get(id), seam) });
}

function faultyStub(stub: object, seam: "tenant" | "object"): object {
  return new Proxy(stub, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function" || name === "fetch")
        return typeof member === "function" ? member.bind(target) : member;
      return (...args: unknown[]) =>
        around(seam, String(name), () => Reflect.apply(member, target, args));
    },
  });
}
