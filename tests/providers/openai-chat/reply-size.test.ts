import { describe, expect, it } from "vitest";
import { calls, decode, delta, finish, content } from "./chunks";

describe("the limit of a reply's length", () => {
  const long = "x".repeat(1024 * 1024);
  const piece = (kind: number) =>
    [
      content(long),
      delta({ reasoning_content: long }),
      calls({ index: 0, id: "a", name: "f", args: long }),
    ][kind];

  it.each([
    { name: "text", kinds: [0, 0, 0, 0] },
    { name: "text, reasoning and arguments together", kinds: [0, 1, 2, 2] },
  ])("is 4 MiB of characters in $name", ({ kinds }) => {
    const given = kinds.map(piece);
    expect(() => decode([...given, finish("stop")].slice(1))).not.toThrow();
    const tooLong = expect.objectContaining({
      failureClass: "transient",
      code: "bad_response",
      message: expect.stringContaining("4194304"),
    });
    expect(() => decode([...given, content("one more"), finish("stop")])).toThrow(tooLong);
  });

  it("counts calls, so that endless empty calls reach it", () => {
    const flood = Array.from({ length: 100_000 }, (_, index) =>
      calls({ index, id: `${index}`, name: "f", args: "" }),
    );
    expect(() => decode([...flood, finish("stop")])).toThrow(
      expect.objectContaining({ code: "bad_response" }),
    );
  });

  it("counts names", () => {
    const flood = Array.from({ length: 5 }, () => calls({ index: 0, name: long }));
    expect(() =>
      decode([
        ...flood.map((chunk, n) => (n === 0 ? chunk : calls({ index: 0, name: `${n}${long}` }))),
        finish("stop"),
      ]),
    ).toThrow(expect.objectContaining({ code: "bad_response" }));
  });
});
