import { expect, it } from "vitest";
import { SharedLock } from "../../src/async/shared-lock";

/** Holders of a lock, by name. `held` lists those that have it, in the order of their grants. */
function holders(size: number) {
  const lock = new SharedLock(size);
  const releases = new Map<string, () => void>();
  const request = async (name: string, isAlone = false) =>
    void releases.set(name, await lock.acquire(isAlone));
  const release = (name: string) => {
    releases.get(name)?.();
    releases.delete(name);
  };
  const held = async () => {
    await new Promise((resolve) => setTimeout(resolve));
    return [...releases.keys()];
  };
  return { request, release, held };
}

it("admits as many holders as its size, in order", async () => {
  const { request, release, held } = holders(2);
  for (const name of ["a", "b", "c", "d"]) void request(name);
  expect(await held()).toEqual(["a", "b"]);
  release("b");
  expect(await held()).toEqual(["a", "c"]);
});

it("admits a holder that must be alone after all earlier holders, and later ones after it", async () => {
  const { request, release, held } = holders(2);
  void request("a");
  void request("alone", true);
  void request("b");
  expect(await held()).toEqual(["a"]);
  release("a");
  expect(await held()).toEqual(["alone"]);
  release("alone");
  expect(await held()).toEqual(["b"]);
});

it("ignores a second release", async () => {
  const lock = new SharedLock(1);
  const release = await lock.acquire();
  release();
  await lock.acquire();
  release();
  const third = lock.acquire().then(() => "admitted");
  const waiting = new Promise((resolve) => setTimeout(() => resolve("waiting"), 5));
  expect(await Promise.race([third, waiting])).toBe("waiting");
});
