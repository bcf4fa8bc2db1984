import { UploadRefusal } from "../contexts/refusals";
import type { UploadRoom, Visit } from "../contexts/upload-room";
import { ApiError } from "./errors";

/** How long an upload waits for room, and how often it looks whether there is some. */
const MOST_WAIT_MS = 20_000;
const LOOK_MS = 100;
const RETRY_AFTER_SECONDS = 5;

/** An upload that wants `bytes` of memory. `signal`: aborted when its client goes away, which leaves the room too. */
type Wanted = { bytes: number; signal: AbortSignal };

/**
 * Does an upload's work once there is room for it. `goesOn` is to be called whenever something of it came or was done; it throws
 * `UploadRefusal` where that took too long. Throws `uploads_busy` if there is no room for too long, or too many wait.
 */
export async function inRoom<T>(
  room: UploadRoom,
  { bytes, signal }: Wanted,
  work: (goesOn: () => void) => Promise<T>,
): Promise<T> {
  const visit = room.come(bytes, Date.now());
  if (visit === null) throw busy();
  const leave = () => room.leave(visit);
  signal.addEventListener("abort", leave);
  try {
    await untilRoom(room, visit, signal);
    return await work(() => {
      if (!room.goesOn(visit, Date.now())) throw tooSlow();
    });
  } finally {
    signal.removeEventListener("abort", leave);
    leave();
  }
}

/** Looks again and again: who is inside may be ended by the platform, and would call nobody. */
async function untilRoom(room: UploadRoom, visit: Visit, signal: AbortSignal): Promise<void> {
  const late = Date.now() + MOST_WAIT_MS;
  while (!room.mayBegin(visit, Date.now())) {
    if (signal.aborted) throw new ApiError("upload_broken", "The client went away before its upload was read.");
    if (Date.now() >= late) throw busy();
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

const busy = (): ApiError =>
  new ApiError("uploads_busy", "As many uploads are being taken in as there is room for. Nothing was changed: send it again.", {
    headers: { "retry-after": String(RETRY_AFTER_SECONDS) },
  });

const tooSlow = (): UploadRefusal =>
  new UploadRefusal(
    "upload_broken",
    "The upload stood still for a minute, or took more than half an hour. Nothing was changed: send it again, a large one as a manifest and blobs.",
  );
