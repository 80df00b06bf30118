/** Folder templates of file targets: `events/{event}/{year}/{month}/{day}/{hour}/`, rendered per event. Times are UTC. */
import type { EventHead } from '../event/canonical.ts';
import { utf8Length } from './bytes.ts';
import { compileText } from './text.ts';

const FOLDER_PARTS = ['year', 'month', 'day', 'hour', 'date', 'event', 'type', 'pipeline'] as const;
type FolderPart = (typeof FOLDER_PARTS)[number];

export type CompiledFolder =
  | { ok: true; render(stored: { readonly timestamp: string; readonly head: EventHead }): string }
  | { ok: false; message: string };

const MAX_NAME = 100;
/** A file system takes 255 bytes for a folder, with what the template puts around the name. */
const MAX_NAME_BYTES = 200;
const UNNAMED = '_';
/** Stands for the name and the type where the folder has neither. */
const UNUSED = { event: undefined, type: '' };

/** `text` may refer to config fields. The result ends in a slash, or is empty. */
export function compileFolder(text: string, parameters: Record<string, unknown>, pipelineId: string): CompiledFolder {
  const { constant } = compileText(text, parameters);
  if (constant === undefined) return { ok: false, message: 'must not refer to the event except through {event} and the like' };
  if (/(^|\/)\.{0,2}\//.test(constant) || /(^|\/)\.{1,2}$/.test(constant))
    return { ok: false, message: 'must not contain . or .. as a folder, nor an empty one' };
  const pieces: (string | { part: FolderPart })[] = [];
  for (const piece of constant.split(/(\{[^{}]*\})/)) {
    const name = /^\{(.*)\}$/.exec(piece)?.[1];
    if (name === undefined) pieces.push(piece);
    else if (isPart(name)) pieces.push({ part: name });
    else return { ok: false, message: `has no part {${name}}: use ${FOLDER_PARTS.map((part) => `{${part}}`).join(', ')}` };
  }
  const named = pieces.some((piece) => typeof piece !== 'string' && (piece.part === 'event' || piece.part === 'type'));
  // Events that follow each other mostly share their folder. They share its text, too.
  let last = { hour: '', event: '' as string | undefined, type: '', path: '' };
  return {
    ok: true,
    render(stored) {
      const time = timeOf(stored.timestamp);
      const { event, type } = named ? stored.head : UNUSED;
      const sameHour = last.hour !== '' && time.startsWith(last.hour);
      if (sameHour && last.event === event && last.type === type) return last.path;
      let path = '';
      for (const piece of pieces) path += typeof piece === 'string' ? piece : partOf(piece.part, { event, type }, time, pipelineId);
      if (path !== '' && !path.endsWith('/')) path += '/';
      last = { hour: time.slice(0, 13), event, type, path };
      return path;
    },
  };
}

function isPart(name: string): name is FolderPart {
  return (FOLDER_PARTS as readonly string[]).includes(name);
}

function partOf(part: FolderPart, event: { event: string | undefined; type: string }, time: string, pipelineId: string): string {
  switch (part) {
    case 'year':
      return time.slice(0, 4);
    case 'month':
      return time.slice(5, 7);
    case 'day':
      return time.slice(8, 10);
    case 'hour':
      return time.slice(11, 13);
    case 'date':
      return time.slice(0, 10);
    case 'event':
      return nameOf(event.event ?? event.type);
    case 'type':
      return nameOf(event.type);
    case 'pipeline':
      return nameOf(pipelineId);
  }
}

/** Years outside 0000 to 9999 have another form; such times are as wrong as no time. */
function timeOf(timestamp: string): string {
  // The usual form needs no conversion.
  if (/^\d{4}-\d\d-\d\dT\d\d:[\d:.]+Z$/.test(timestamp)) return timestamp;
  const ms = Date.parse(timestamp);
  const iso = Number.isNaN(ms) ? '' : new Date(ms).toISOString();
  return /^\d{4}-/.test(iso) ? iso : '0000-00-00T00';
}

/** Lower-case letters, digits, dots, dashes and underscores are safe on every store; anything else becomes an underscore. */
function nameOf(text: string): string {
  const safe = text
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}._-]+/gu, '_')
    .replace(/^\.+/, '_')
    .toWellFormed();
  let name = '';
  let bytes = 0;
  for (const char of [...safe].slice(0, MAX_NAME)) {
    bytes += utf8Length(char);
    if (bytes > MAX_NAME_BYTES) break;
    name += char;
  }
  return name || UNNAMED;
}
