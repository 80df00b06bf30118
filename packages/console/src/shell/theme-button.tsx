import { ActionIcon, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { MoonIcon, SunIcon } from '../components/icons.tsx';

/** On a telephone the account menu has the choice. */
export function ThemeButton() {
  const { setColorScheme } = useMantineColorScheme();
  const next = useComputedColorScheme() === 'dark' ? 'light' : 'dark';
  const label = next === 'dark' ? 'Dark theme' : 'Light theme';
  return (
    <ActionIcon variant="subtle" color="gray" aria-label={label} title={label} visibleFrom="sm" onClick={() => setColorScheme(next)}>
      {next === 'dark' ? <MoonIcon /> : <SunIcon />}
    </ActionIcon>
  );
}
