"use strict";
// Asks for the last requests once a second and shows them. Everything goes in as text, never as HTML.
const rows = document.querySelector("tbody"), form = document.querySelector("#key"), state = document.querySelector("#state");
let key = "";

const cell = (row, text) => { row.insertCell().textContent = text; };
const seconds = (value) => value === null ? "" : value < 0.01 ? `${Math.round(value * 1000)} ms` : `${value.toFixed(2)} s`;

function show(requests) {
  rows.replaceChildren();
  for (const each of requests) {
    const row = rows.insertRow();
    cell(row, new Date(each.at * 1000).toLocaleTimeString());
    cell(row, each.client);
    cell(row, each.state);
    cell(row, each.prompt_tokens.toLocaleString());
    cell(row, each.reused_tokens.toLocaleString());
    const bar = row.insertCell().appendChild(document.createElement("span"));
    bar.className = "bar";
    bar.appendChild(document.createElement("i")).style.width = `${100 * each.reused_tokens / Math.max(1, each.prompt_tokens)}%`;
    cell(row, each.written_tokens.toLocaleString());
    cell(row, seconds(each.ttft_s));
    cell(row, each.ttft_s === null ? "" : seconds(each.cold_ttft_s));
    cell(row, each.cause ?? "");
  }
  state.textContent = requests.length ? "The last requests, the newest first." : "No request has come yet.";
}

function price(hosted) {
  const dollars = (value) => `$${value.toFixed(value < 1 ? 4 : 2)}`;
  document.querySelector("#hosted").textContent = "What all of them would have cost elsewhere: " + hosted.map((each) =>
    `${each.service} (prices of ${each.prices_of}) ${dollars(each.with_caching)}, without its cache ${dollars(each.without)}`).join("; ") + ".";
}

async function look() {
  try {
    const answer = await fetch("v1/cache/requests", key ? { headers: { "x-api-key": key } } : {});
    form.style.display = answer.status === 401 ? "block" : "none";
    if (answer.ok) {
      const told = await answer.json();
      show(told.data);
      price(told.hosted_usd);
    }
  } catch {
    state.textContent = "The server does not answer.";
  }
  setTimeout(look, 1000);
}

form.addEventListener("submit", (event) => { event.preventDefault(); key = form.querySelector("input").value; });
look();
