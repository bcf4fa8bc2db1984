import type { Env } from "../../src/env";

/** Operations that the platform charges for, counted as they happen. */
export const operations = {
  /** Requests of clients. */
  workerRequests: 0,
  /** Requests to an object, from another object or from the Worker. */
  objectRequests: 0,
  alarms: 0,
  d1Statements: 0,
  /** R2's class A: writes and lists. */
  r2Writes: 0,
  /** R2's class B. */
  r2Reads: 0,
};

/** The deployment's bindings with every use counted. */
export function countingBindings<Bindings extends Env>(env: Bindings): Bindings {
  const objects = <Space extends { get(id: DurableObjectId): object }>(space: Space): Space =>
    replacing(space, {
      get: (id: DurableObjectId) => everyCall(space.get(id), () => add("objectRequests")),
    });
  return {
    ...env,
    SESSIONS: objects(env.SESSIONS),
    TENANTS: objects(env.TENANTS),
    EVALS: objects(env.EVALS),
    RATES: objects(env.RATES),
    DB: replacing(env.DB, {
      prepare: (sql: string) => {
        add("d1Statements");
        return env.DB.prepare(sql);
      },
    }),
    BUCKET: everyCall(env.BUCKET, (method) => {
      if (method !== "delete") add(method === "get" || method === "head" ? "r2Reads" : "r2Writes");
    }),
  };
}

const add = (what: keyof typeof operations): void => {
  operations[what] += 1;
};

/**
 * A proxy with some members replaced. Other methods are bound: objects of the runtime check their
 * `this`.
 */
function replacing<T extends object>(real: T, replaced: object): T {
  return new Proxy(real, {
    get(target, name) {
      if (Object.hasOwn(replaced, name)) return Reflect.get(replaced, name);
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

function everyCall<T extends object>(real: T, onCall: (method: string) => void): T {
  return new Proxy(real, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => {
        onCall(String(name));
        return Reflect.apply(member, target, args);
      };
    },
  });
}
