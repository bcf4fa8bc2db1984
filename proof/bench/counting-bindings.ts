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

/** The deployment's bindings, wrapped so that each use is counted in `operations`. */
export function countingBindings<Bindings extends Env>(env: Bindings): Bindings {
  const countRequests = <Space extends { get(id: DurableObjectId): object }>(space: Space): Space =>
    withMembers(space, {
      get: (id: DurableObjectId) => onEachCall(space.get(id), () => add("objectRequests")),
    });
  return {
    ...env,
    SESSIONS: countRequests(env.SESSIONS),
    TENANTS: countRequests(env.TENANTS),
    EVALS: countRequests(env.EVALS),
    RATES: countRequests(env.RATES),
    DB: withMembers(env.DB, {
      prepare: (sql: string) => {
        add("d1Statements");
        return env.DB.prepare(sql);
      },
    }),
    // R2 does not charge for deletes.
    BUCKET: onEachCall(env.BUCKET, (method) => {
      if (method !== "delete") add(method === "get" || method === "head" ? "r2Reads" : "r2Writes");
    }),
  };
}

const add = (what: keyof typeof operations): void => {
  operations[what] += 1;
};

/**
 * A proxy of `real` with some members replaced. Its other methods are bound to `real`, because
 * objects of the runtime check their `this`.
 */
function withMembers<T extends object>(real: T, replaced: object): T {
  return new Proxy(real, {
    get(target, name) {
      if (Object.hasOwn(replaced, name)) return Reflect.get(replaced, name);
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

/** A proxy of `real` that calls `onCall` with the method's name before each method call. */
function onEachCall<T extends object>(real: T, onCall: (method: string) => void): T {
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
