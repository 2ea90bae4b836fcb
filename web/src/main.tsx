// SPDX-License-Identifier: Apache-2.0
import { render } from 'preact';
import { App } from './App';
import { data } from './data';
import './style.css';

render(<App data={data} />, document.getElementById('page')!);
