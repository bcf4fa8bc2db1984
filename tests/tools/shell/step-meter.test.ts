import { describe, expect, it } from "vitest";
import { StepMeter } from "../../../src/tools/shell/step-meter";

const LIMITS = {
  steps: 100,
  readBytes: 1_000,
  writtenBytes: 1_000,
  timeoutMs: 5_000,
  waitMs: 60_000,
};
const meterWith = (clock: { at: number }) => new StepMeter(LIMITS, () => clock.at);

describe("StepMeter", () => {
  it("stops a command at its limit of steps if the clock does not advance", () => {
    const meter = meterWith({ at: 7 });
    for (let step = 0; step < 100; step++) meter.hit("bash:cmd");
    expect(meter.stopped).toBeNull();
    meter.hit("bash:cmd");
    expect(meter.stopped).toBe("it took more than 100 steps");
    expect(meter.signal.aborted).toBe(true);
  });

  it("stops a command at its time limit before its limit of steps", () => {
    const clock = { at: 0 };
    const meter = meterWith(clock);
    clock.at = 5_001;
    for (let step = 0; step < 32; step++) meter.hit("bash:cmd");
    expect(meter.stopped).toBe("it took longer than 5 s");
  });

  it("checks the clock when a file is read", () => {
    const clock = { at: 0 };
    const meter = meterWith(clock);
    clock.at = 5_001;
    meter.read(1);
    expect(meter.stopped).toBe("it took longer than 5 s");
  });

  it("does not count the time of waiting for files", async () => {
    const clock = { at: 0 };
    const meter = meterWith(clock);
    const waitFor = (ms: number) => meter.waiting(async () => (clock.at += ms));
    await waitFor(50_000);
    clock.at += 5_000;
    meter.read(1);
    expect(meter.stopped).toBeNull();
    await waitFor(10_001);
    expect(meter.stopped).toBe("it waited longer than 60 s for files");
  });

  it("stops a command that reads too much", () => {
    const meter = meterWith({ at: 0 });
    meter.read(1_000);
    expect(meter.stopped).toBeNull();
    meter.read(1);
    expect(meter.stopped).toBe("it read more than 1000 bytes of files");
  });

  it("stops a command before it writes too much", () => {
    const meter = meterWith({ at: 0 });
    meter.writes(1_000);
    expect(meter.stopped).toBeNull();
    expect(() => meter.writes(1)).toThrow("stopped: it wrote more than 1000 bytes to files");
    expect(() => meter.writes(0)).toThrow("stopped");
  });

  it("throws after a stop within a command such as awk, but not between commands", () => {
    const meter = meterWith({ at: 0 });
    meter.stop("enough");
    expect(() => meter.hit("bash:cmd:While")).not.toThrow();
    expect(() => meter.hit("awk:stmt:for")).toThrow("stopped: enough");
  });

  it("stores only the first reason of a stop", () => {
    const meter = meterWith({ at: 0 });
    meter.stop("first");
    meter.stop("second");
    expect(meter.stopped).toBe("first");
  });
});
