import { Select, type SelectProps } from '@mantine/core';

export const CATEGORIES = ['essential', 'functional', 'analytics', 'marketing', 'advertising'];

/** One of the canonical categories. A name of the consent tool that was stored through the API stays a choice. */
export function ConsentCategorySelect(props: Omit<SelectProps, 'data'>) {
  const { value } = props;
  const stored = typeof value === 'string' && value !== '' && !CATEGORIES.includes(value) ? [value] : [];
  return <Select clearable {...props} data={[...CATEGORIES, ...stored]} />;
}
