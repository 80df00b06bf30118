/** A vendor's limits on names and maps with free keys, applied to a finished payload. */

import { isObject } from '../json.ts';
import { compileDeleter, compilePath, compileSetter } from '../path/path.ts';
import type { EventNameDefinition, LimitRule, VendorDefinition } from './definition.ts';

/** `Ünïcode Näme 2` → `Unicode_Name_2`. A name that does not start with a letter gets the prefix `e_`. */
export function toIdentifier(text: string): string {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9_]+/g, '_');
  if (/^[A-Za-z]/.test(plain)) return plain.replace(/(?<!_)_+$/, '') || 'e';
  return `e_${plain.replace(/^_+|(?<!_)_+$/g, '')}`.replace(/_$/, '');
}

function inStyle(text: string, style: EventNameDefinition['style']): string {
  if (style === undefined || style === 'keep') return text;
  const identifier = /^[A-Za-z][A-Za-z0-9_]*$/.test(text) ? text : toIdentifier(text);
  return style === 'lower_identifier' ? identifier.toLowerCase() : identifier;
}

/** The name in a form the vendor accepts, or undefined if it accepts none. */
export function fitEventName(name: string, rule: EventNameDefinition): string | undefined {
  const styled = inStyle(name, rule.style);
  const cut = rule.max_length !== undefined && styled.length > rule.max_length ? cutText(styled, rule.max_length) : styled;
  if (cut === '' || rule.reserved?.includes(cut)) return undefined;
  if (rule.reserved_prefixes?.some((prefix) => cut.startsWith(prefix))) return undefined;
  return cut;
}

/** Changes the payload in place: it belongs to this event alone. */
export function compileLimits(rules: readonly LimitRule[]): (payload: unknown) => void {
  const compiled = rules.map((rule) => {
    const path = compilePath(rule.path);
    if (!path.ok) throw new Error(`limit path ${rule.path}: ${path.message}`);
    return { get: path.get, rule, keep: new Set(rule.keep ?? []) };
  });
  return (payload) => {
    for (const { get, rule, keep } of compiled) {
      const found = get(payload);
      for (const map of Array.isArray(found) ? found : [found]) if (isObject(map)) fitMap(map, rule, keep);
    }
  };
}

/** Removes empty objects and holes from lists, and lists that become empty. Changes the payload in place. */
export function compileCompact(lists: NonNullable<VendorDefinition['compact']>): (payload: unknown) => void {
  const compiled = lists.map(({ path: text, needs, keep_empty: kept = false }) => {
    const path = compilePath(text);
    const remove = compileDeleter(text);
    if (!path.ok || !remove.ok) throw new Error(`list path ${text} is not a path`);
    return { get: path.get, remove, kept, complete: completeWith(needs) };
  });
  return (payload) => {
    for (const { get, remove, kept, complete } of compiled) {
      const list = get(payload);
      if (!Array.isArray(list)) continue;
      const full = list.filter(complete);
      if (full.length === 0 && !kept) remove.delete(payload as object);
      else if (full.length < list.length) {
        // Not `splice`, whose arguments overflow the stack for very long lists.
        for (const [at, item] of full.entries()) list[at] = item;
        list.length = full.length;
      }
    }
  };
}

/** Removes the paths of every group that is not complete, and objects that become empty. Changes the payload in place. */
export function compileTogether(groups: readonly string[][]): (payload: object) => void {
  const compiled = groups.map((paths) => paths.map((text) => ({ own: placeOf(text), parent: parentOf(text) })));
  return (payload) => {
    for (const group of compiled) {
      if (group.every(({ own }) => own.get(payload) !== undefined)) continue;
      for (const { own, parent } of group) {
        if (own.get(payload) === undefined) continue;
        own.remove.delete(payload);
        const rest = parent?.get(payload);
        if (isObject(rest) && Object.keys(rest).length === 0) parent?.remove.delete(payload);
      }
    }
  };
}

/** Replaces the objects and lists at these paths by their JSON text. Changes the payload in place. */
export function compileJsonText(paths: readonly string[]): (payload: object) => void {
  const compiled = paths.map((text) => {
    const path = compilePath(text);
    const setter = compileSetter(text);
    if (!path.ok || !setter.ok) throw new Error(`${text} is not a path`);
    return { get: path.get, set: setter.set };
  });
  return (payload) => {
    for (const { get, set } of compiled) {
      const value = get(payload);
      if (typeof value !== 'object' || value === null) continue;
      set(payload, Object.keys(value).length === 0 ? '' : JSON.stringify(value));
    }
  };
}

function placeOf(text: string) {
  const path = compilePath(text);
  const remove = compileDeleter(text);
  if (!path.ok || !remove.ok) throw new Error(`${text} is not a path`);
  return { get: path.get, remove };
}

function parentOf(text: string) {
  const end = text.lastIndexOf('.');
  return end === -1 ? undefined : placeOf(text.slice(0, end));
}

function completeWith(needs: readonly string[] | undefined): (element: unknown) => boolean {
  return (element) => {
    if (!isObject(element)) return element !== null && element !== undefined;
    return needs ? needs.some((key) => element[key] !== undefined && element[key] !== '') : Object.keys(element).length > 0;
  };
}

function fitMap(map: Record<string, unknown>, rule: LimitRule, keep: ReadonlySet<string>): void {
  let count = 0;
  for (const key of Object.keys(map)) {
    const value = map[key];
    const name = fitKey(key, rule);
    const nested = typeof value === 'object' && value !== null;
    const misfit = value === null || value === undefined || (nested && rule.scalars_only === true && !keep.has(key));
    if (misfit || (name !== key && Object.hasOwn(map, name)) || (rule.max_keys !== undefined && count >= rule.max_keys)) {
      delete map[key];
      continue;
    }
    count++;
    const fitted = typeof value === 'string' ? fitString(value, rule, key) : fitList(value, rule);
    if (name !== key) {
      delete map[key];
      map[name] = fitted;
    } else if (fitted !== value) map[key] = fitted;
  }
}

function fitKey(key: string, rule: LimitRule): string {
  const styled = inStyle(key, rule.key_style);
  return rule.max_key_length !== undefined && styled.length > rule.max_key_length ? cutText(styled, rule.max_key_length) : styled;
}

function fitString(value: string, rule: LimitRule, key: string): string {
  const most =
    (rule.string_lengths && Object.hasOwn(rule.string_lengths, key) ? rule.string_lengths[key] : undefined) ?? rule.max_string_length;
  return most !== undefined && value.length > most ? cutText(value, most) : value;
}

function fitList(value: unknown, rule: LimitRule): unknown {
  const most = rule.max_list_length;
  return most !== undefined && Array.isArray(value) && value.length > most ? value.slice(0, most) : value;
}

/** Never through the middle of a surrogate pair. */
function cutText(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}
