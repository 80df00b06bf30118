/** Checks the objects that users write in a config. Unknown keys are faults, and every fault has its path. */
import { isObject } from '../json.ts';
import type { ConfigFault } from './compiled.ts';

export type Shape =
  | { kind: 'any' | 'boolean' }
  | { kind: 'string'; empty?: boolean }
  | { kind: 'number'; min?: number; max?: number }
  | { kind: 'enum'; values: readonly string[] }
  | { kind: 'list'; of: Shape }
  | { kind: 'map'; of: Shape }
  | { kind: 'object'; required: Record<string, Shape>; optional: Record<string, Shape> }
  /** The value of `kind` selects the shape. */
  | { kind: 'tagged'; options: Record<string, Shape> };

export function shapeFaults(value: unknown, shape: Shape, where: string): ConfigFault[] {
  const fault = (message: string, field = where): ConfigFault[] => [{ field, message }];
  switch (shape.kind) {
    case 'any':
      return [];
    case 'boolean':
      return typeof value === 'boolean' ? [] : fault('must be true or false');
    case 'string':
      if (typeof value !== 'string') return fault('must be a string');
      return value === '' && !shape.empty ? fault('must not be empty') : [];
    case 'number':
      // Pipeline parameters are texts.
      if (!/^-?\d+$/.test(String(value))) return fault('must be a whole number');
      if (Number(value) < (shape.min ?? Number.NEGATIVE_INFINITY) || Number(value) > (shape.max ?? Number.POSITIVE_INFINITY))
        return fault(`must lie between ${shape.min} and ${shape.max}`);
      return [];
    case 'enum':
      return typeof value === 'string' && shape.values.includes(value) ? [] : fault(`must be one of ${shape.values.join(', ')}`);
    case 'list':
      if (!Array.isArray(value)) return fault('must be a list');
      return value.flatMap((element, index) => shapeFaults(element, shape.of, `${where}[${index}]`));
    case 'map':
      if (!isObject(value)) return fault('must be an object');
      return Object.entries(value).flatMap(([key, inner]) => shapeFaults(inner, shape.of, `${where}.${key}`));
    case 'tagged': {
      if (!isObject(value)) return fault('must be an object');
      const tag = value.kind;
      if (typeof tag !== 'string' || !Object.hasOwn(shape.options, tag))
        return fault(`must be one of ${Object.keys(shape.options).join(', ')}`, `${where}.kind`);
      return shapeFaults(value, shape.options[tag] as Shape, where);
    }
    case 'object': {
      if (!isObject(value)) return fault('must be an object');
      const faults: ConfigFault[] = [];
      for (const [key, inner] of Object.entries(shape.required)) {
        if (!Object.hasOwn(value, key)) faults.push({ field: `${where}.${key}`, message: 'is required' });
        else faults.push(...shapeFaults(value[key], inner, `${where}.${key}`));
      }
      for (const key of Object.keys(value)) {
        if (Object.hasOwn(shape.required, key)) continue;
        if (!Object.hasOwn(shape.optional, key)) faults.push({ field: `${where}.${key}`, message: 'is unknown' });
        else faults.push(...shapeFaults(value[key], shape.optional[key] as Shape, `${where}.${key}`));
      }
      return faults;
    }
  }
}
