/** Values that the collector reads from the page and adds to every event. */
import { CloseButton, Select, Stack, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { RoleButton } from '../../components/role-button.tsx';
import classes from './collector.module.css';
import type { CollectorValues, PageVariable, VariableSource } from './collector-values.ts';

const SOURCES: Record<VariableSource, { label: string; path: string }> = {
  data_layer: { label: 'data layer', path: 'ecommerce.currency' },
  js_variable: { label: 'JavaScript variable', path: 'app.user.plan' },
  cookie: { label: 'cookie', path: 'shop_segment' },
  query: { label: 'query parameter', path: 'ref' },
  meta: { label: 'meta tag', path: 'article:section' },
  selector: { label: 'CSS selector', path: '#order-total' },
};
/** The API takes so many. */
const MOST = 200;
const EMPTY: PageVariable = { name: '', source: 'data_layer', path: '', target: 'properties.' };

export function PageVariables({ form, disabled }: { form: UseFormReturnType<CollectorValues>; disabled: boolean }) {
  const { variables } = form.values;
  return (
    <fieldset className={classes.list}>
      <Text component="legend" fw={650}>
        Variables of the page
      </Text>
      <Text size="xs" c="var(--dim)">
        Read with every event and added to it. What the call itself sends wins.
      </Text>
      <Stack gap="xs" mt="xs">
        {variables.map(({ name, source }, at) => {
          const which = name.trim() === '' ? `variable ${at + 1}` : name;
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: a variable has no id, and its name is being typed
            <div key={at} className={classes.variable}>
              <TextInput
                size="xs"
                label="Name"
                placeholder="Section"
                aria-label={`Name of variable ${at + 1}`}
                disabled={disabled}
                {...form.getInputProps(`variables.${at}.name`)}
              />
              <Select
                size="xs"
                label="From"
                aria-label={`Where ${which} is read from`}
                allowDeselect={false}
                disabled={disabled}
                data={Object.entries(SOURCES).map(([value, { label }]) => ({ value, label }))}
                {...form.getInputProps(`variables.${at}.source`)}
              />
              <TextInput
                size="xs"
                label="Path"
                classNames={{ input: 'mono' }}
                placeholder={SOURCES[source].path}
                aria-label={`Path of ${which}`}
                disabled={disabled}
                {...form.getInputProps(`variables.${at}.path`)}
              />
              <TextInput
                size="xs"
                label="To"
                classNames={{ input: 'mono' }}
                placeholder="properties.section"
                aria-label={`Where ${which} goes in the event`}
                disabled={disabled}
                {...form.getInputProps(`variables.${at}.target`)}
              />
              <CloseButton
                className={classes.remove}
                aria-label={`Remove ${which}`}
                disabled={disabled}
                onClick={() => form.removeListItem('variables', at)}
              />
            </div>
          );
        })}
        <div>
          <RoleButton
            needs="editor"
            variant="default"
            disabled={disabled || variables.length >= MOST}
            onClick={() => form.insertListItem('variables', { ...EMPTY })}
          >
            Add a variable
          </RoleButton>
        </div>
      </Stack>
    </fieldset>
  );
}
