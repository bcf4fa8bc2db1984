import { expect, it } from "vitest";
import { Releases } from "../../src/async/releases";

function start(signal: AbortSignal) {
  const released: string[] = [];
  const releases = new Releases(signal);
  const add = (name: string) => releases.add(() => void released.push(name));
  return { releases, released, add };
}

it("releases all resources once, in the order in which they were added", () => {
  const { releases, released, add } = start(new AbortController().signal);
  add("a");
  add("b");
  releases.release();
  releases.release();
  expect(released).toEqual(["a", "b"]);
});

it("releases all resources on an abort, also resources that are added later", () => {
  const user = new AbortController();
  const { released, add } = start(user.signal);
  add("a");
  user.abort();
  expect(released).toEqual(["a"]);
  add("b");
  expect(released).toEqual(["a", "b"]);
});
