import { describe, expect, it } from "vitest";
import { STORE } from "../../durable-objects/shared/object-limits";
import { byteLength } from "../../src/coordination/byte-length";
import { LIMITS } from "../../src/coordination/limits";
import type { FileAccess } from "../../src/protocol/events";
import { AuditTrail } from "../../src/workspace/audit-trail";
import { PATH_LIMITS } from "../../src/workspace/paths";
import { FileError } from "../../src/workspace/types";

const { nameBytes, pathBytes, typed } = PATH_LIMITS;
/** The longest path, which consists of quotes. Each quote has two bytes in JSON. */
const name = '"'.repeat(nameBytes);
const longest = [name, name, name, name].join("/").slice(0, pathBytes);

/** The line of an operation on this path, allowed or refused. */
function lineOf(path: string): FileAccess {
  const trail = new AuditTrail();
  try {
    trail.attempt("delete", path, () => {
      throw new FileError("read_before_delete", "");
    });
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
  }
  const [line] = trail.lines;
  if (!line) throw new Error("nothing was recorded");
  return line;
}

describe("an event of the audit trail", () => {
  it.each([
    {
      name: "with the longest paths",
      path: `/contexts/${name}/${longest}`,
      bytes: 2 * (nameBytes + pathBytes),
    },
    {
      name: "with the longest invalid and invisible text",
      path: "\u{202e}".repeat(typed),
      bytes: 8 * 200,
    },
  ])("fits into its row with the maximum number of lines, $name", ({ path, bytes }) => {
    const line = lineOf(path);
    expect(byteLength(JSON.stringify(line.path))).toBeGreaterThan(bytes);
    const event = {
      type: "files.accessed",
      accesses: Array.from({ length: LIMITS.accessesPerEvent }, () => line),
    };
    const otherFieldsBytes = 100_000;
    expect(byteLength(JSON.stringify(event))).toBeLessThan(STORE.eventRowBytes - otherFieldsBytes);
  });
});
