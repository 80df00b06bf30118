/** Short forms for config fields. The results are plain data. */
import type { ConfigField, FieldType } from '@firsthand/core/vendor/definition.ts';

type More = Partial<Omit<ConfigField, 'key' | 'label' | 'type' | 'placeholder' | 'help_text'>>;

const of =
  (type: FieldType, required: boolean) =>
  (key: string, label: string, placeholder: string, help_text: string, more: More = {}): ConfigField => ({
    key,
    label,
    type,
    required,
    placeholder,
    help_text,
    ...more,
  });

export const text = of('string', true);
export const optionalText = of('string', false);
export const secret = of('secret', true);
export const optionalSecret = of('secret', false);

/** Off unless the customer switches it on. */
export const flag = (key: string, label: string, help_text: string): ConfigField =>
  of('boolean', false)(key, label, 'false', help_text, { default: false });

export const select = (key: string, label: string, options: string[], help_text: string): ConfigField =>
  of('select', false)(key, label, options[0] ?? '', help_text, { options, default: options[0] ?? '' });

export const digits = (hint = 'digits only'): More => ({ pattern: '^\\d{1,24}$', pattern_hint: hint });
/** Ids of letters, digits, dashes and underscores. */
export const idOf = (hint: string): More => ({ pattern: '^[A-Za-z0-9_-]{1,100}$', pattern_hint: hint });

/** A table of events and the vendor's own id of each, for `event_table`. */
export function eventTable(key: string, label: string, column: ConfigField, help_text: string, more: More = {}): ConfigField {
  const event = text('event', 'Event', 'Order Completed', 'Name of the event, for example Order Completed; @page for page views.');
  const row = JSON.stringify([{ event: event.placeholder, [column.key]: column.placeholder }]);
  return of('table', true)(key, label, row, help_text, { columns: [event, column], ...more });
}
