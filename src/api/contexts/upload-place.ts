import { sleep } from "../../async/sleep";
import { UploadRefusal } from "../../uploads/refusals";
import type { UploadRoom, Visit } from "../../uploads/upload-room";
import { ApiError } from "../errors";

/** How long an upload waits for room, and how often it looks whether there is some. */
const MOST_WAIT_MS = 20_000;
const LOOK_MS = 100;
const RETRY_AFTER_SECONDS = 5;

/** How long an upload that is inside waits for the room that it needs beyond what it has. */
const MOST_GROWING_MS = 5_000;

/** An upload of a tenant that wants `bytes` of memory. `signal`: aborted when its client goes away, which leaves the room too. */
type Wanted = { tenant: string; bytes: number; signal: AbortSignal };

/** What an upload reports while it is inside. Each method but `waits` throws `UploadRefusal` where the upload must stop. */
export type Progress = {
  /** Something of it was done. */
  goesOn(): void;
  /** The service begins to wait for bytes of its body. */
  waits(): void;
  /** So many bytes of its body have arrived. */
  came(bytes: number): void;
  /** It holds so much memory from now on. Throws `uploads_busy` if there is no room for that soon. */
  holds(bytes: number): Promise<void>;
};

/** Does an upload's work once there is room for it. Throws `uploads_busy` if there is no room for too long, or too many wait. */
export async function inRoom<T>(
  room: UploadRoom,
  { tenant, bytes, signal }: Wanted,
  work: (progress: Progress) => Promise<T>,
): Promise<T> {
  const visit = room.come(tenant, bytes, Date.now());
  if (visit === null) throw busy();
  const leave = () => room.leave(visit);
  signal.addEventListener("abort", leave);
  try {
    await untilRoom(room, visit, signal);
    return await work(progressOf(room, visit));
  } finally {
    signal.removeEventListener("abort", leave);
    leave();
  }
}

function progressOf(room: UploadRoom, visit: Visit): Progress {
  const orStop = (goesOn: boolean): void => {
    if (!goesOn) throw tooSlow();
  };
  return {
    goesOn: () => orStop(room.goesOn(visit, Date.now())),
    waits: () => room.waits(visit, Date.now()),
    came: (bytes) => orStop(room.came(visit, bytes, Date.now())),
    async holds(bytes) {
      const late = Date.now() + MOST_GROWING_MS;
      while (!room.grow(visit, bytes, Date.now())) {
        orStop(room.goesOn(visit, Date.now()));
        if (Date.now() >= late) throw busy();
        await sleep(LOOK_MS);
      }
    },
  };
}

/** Asks repeatedly: an upload inside may be ended by the platform, which calls nothing here. */
async function untilRoom(room: UploadRoom, visit: Visit, signal: AbortSignal): Promise<void> {
  const late = Date.now() + MOST_WAIT_MS;
  while (!room.mayBegin(visit, Date.now())) {
    if (signal.aborted)
      throw new ApiError("upload_broken", "The client went away before its upload was read.");
    if (Date.now() >= late) throw busy();
    await sleep(LOOK_MS);
  }
}

const busy = (): ApiError =>
  new ApiError(
    "uploads_busy",
    "As many uploads are being taken in as there is room for. Nothing was changed: send it again.",
    {
      headers: { "retry-after": String(RETRY_AFTER_SECONDS) },
    },
  );

const tooSlow = (): UploadRefusal =>
  new UploadRefusal(
    "upload_broken",
    "The upload came slower than 32 kB a second, stood still for a minute, or took more than half an hour. Nothing was changed: send it again, a large one as a manifest and blobs.",
  );
