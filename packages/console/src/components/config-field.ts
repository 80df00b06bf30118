/** What a form knows of a field of a vendor's configuration. */
export interface ConfigColumn {
  key: string;
  label: string;
  type: string;
  required: boolean;
  placeholder?: string;
  help_text?: string;
  options?: string[];
  default?: unknown;
  multiline?: boolean;
}
export interface ConfigField extends ConfigColumn {
  /** Of a field of the API. In a definition the type says it. */
  rows?: 'list' | 'table';
  /** Of a `table`; a `list` has one, which describes an entry. */
  columns?: ConfigColumn[];
}
export const typeOf = ({ type, rows }: Pick<ConfigField, 'type' | 'rows'>): string => rows ?? type;
