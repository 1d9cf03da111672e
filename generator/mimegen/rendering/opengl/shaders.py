"""The shader programs for figures, their shadows and the final picture, GLSL 3.30.

Light is linear RGB radiance as in ``rendering/cycles/scene.py``: two suns and a sky of two halves.
Surfaces have diffuse and GGX reflection (of the sky by Karis, Physically based shading on mobile,
2014).
"""

LIGHT = """\
#version 330
const float PI = 3.14159265;
uniform vec3 eye;
uniform vec3 sun_from, sun, rim_from, rim;
uniform vec3 sky, ground;
uniform mat4 to_shadow;
uniform vec2 shadow_spread;
uniform float shadow_lift;
uniform sampler2DShadow shadow_map;
const int LOOKS = 8;

// The visible fraction of the sun's disc: samples on a spiral over the penumbra (Vogel 1979), at
// depths along the surface's slope, so that surfaces at grazing angles do not shade themselves.
float sunlit(vec3 place, vec3 normal) {
    vec3 at = (to_shadow * vec4(place + shadow_lift * normal, 1.0)).xyz * 0.5 + 0.5;
    mat3 axes = transpose(mat3(to_shadow));
    vec3 facing = (normal * axes) / vec3(dot(axes[0], axes[0]), dot(axes[1], axes[1]),
                                         dot(axes[2], axes[2]));
    vec2 slope = facing.xy / max(-facing.z, 0.1 / length(axes[2]));
    float seen = 0.0;
    for (int i = 0; i < LOOKS; i++) {
        float turn = float(i) * 2.39996323;
        vec2 aside = shadow_spread * sqrt((float(i) + 0.5) / float(LOOKS))
            * vec2(cos(turn), sin(turn));
        seen += textureLod(shadow_map, vec3(at.xy + aside, at.z + dot(slope, aside)), 0.0);
    }
    return seen / float(LOOKS);
}

vec3 sky_light(float height) { return mix(ground, sky, clamp(height / 0.6 + 0.5, 0.0, 1.0)); }

float gloss(vec3 normal, vec3 view, vec3 from, float roughness) {
    vec3 middle = normalize(view + from);
    float facing = max(dot(normal, middle), 0.0), wide = roughness * roughness;
    float below = facing * facing * (wide * wide - 1.0) + 1.0;
    float spread = wide * wide / (PI * below * below);
    float along = max(dot(normal, from), 0.0), towards = max(dot(normal, view), 0.05);
    float hidden = mix(2.0 * along * towards, along + towards, wide);
    return spread * along * 0.5 / max(hidden, 1e-4);
}

vec3 sky_gloss(vec3 normal, vec3 view, float roughness, vec3 straight) {
    vec4 r = roughness * vec4(-1.0, -0.0275, -0.572, 0.022) + vec4(1.0, 0.0425, 1.04, -0.04);
    float along = max(dot(normal, view), 0.0);
    float a = min(r.x * r.x, exp2(-9.28 * along)) * r.x + r.y;
    vec2 share = vec2(-1.04, 1.04) * a + r.zw;
    return straight * share.x + share.y;
}

// The light that a white surface scatters, and the light that it mirrors.
void lit(vec3 place, vec3 normal, vec3 color, vec3 shine, float open_sky,
         out vec3 scattered, out vec3 mirrored) {
    vec3 view = normalize(eye - place);
    float roughness = shine.x, metallic = shine.z;
    vec3 straight = mix(vec3(shine.y), color, metallic);
    vec3 share = shine.y > 0.0 ? sky_gloss(normal, view, roughness, straight) : vec3(0.0);
    vec3 from_sun = sun * sunlit(place, normal);
    scattered = (1.0 - metallic) * (1.0 - share) / PI
        * (from_sun * max(dot(normal, sun_from), 0.0) + rim * max(dot(normal, rim_from), 0.0)
           + PI * open_sky * sky_light(normal.z * 0.6));
    mirrored = straight * (from_sun * gloss(normal, view, sun_from, roughness)
                           + rim * gloss(normal, view, rim_from, roughness))
        + share * open_sky * sky_light(reflect(-view, normal).z);
}
"""

# Figures are lit at their vertices, because their triangles are about as small as pixels.
FIGURE_VERTEX = LIGHT + """
uniform mat4 to_picture;
in vec3 place, normal, color, glow, shine;
out vec3 matt, bright;
#ifdef TEXTURED
in vec2 uv;
out vec2 on;
#endif
void main() {
    gl_Position = to_picture * vec4(place, 1.0);
    lit(place, normalize(normal), color, shine, 1.0, matt, bright);
    matt *= color;
    bright += glow;
#ifdef TEXTURED
    on = uv;
#endif
}
"""

FIGURE_FRAGMENT = """\
#version 330
in vec3 matt, bright;
#ifdef TEXTURED
in vec2 on;
uniform sampler2D image;
#endif
out vec4 result;
void main() {
    vec3 color = matt;
#ifdef TEXTURED
    vec4 drawn = texture(image, on);
    if (drawn.a < 0.5) discard;
    color *= pow(drawn.rgb, vec3(2.2));
#endif
    result = vec4(color + bright, 1.0);
}
"""

SHADOW_VERTEX = """\
#version 330
uniform mat4 to_shadow;
in vec3 place;
void main() { gl_Position = to_shadow * vec4(place, 1.0); }
"""

SHADOW_FRAGMENT = """\
#version 330
out vec4 nothing;
void main() { nothing = vec4(0.0); }
"""

# One triangle that covers the whole target.
WHOLE_VERTEX = """\
#version 330
void main() { gl_Position = vec4(4 * (gl_VertexID & 1) - 1, 2 * (gl_VertexID & 2) - 1, 0.0, 1.0); }
"""

# Reduces a picture of twice the resolution by Cycles' pixel filter, a Blackman-Harris window 3
# pixels wide (Harris 1978). Samples beyond the nearest four per axis would add under 1 % and are
# left out. Weights are multiples of 1/128 with a sum of exactly 1, so opaque pixels stay opaque.
MEAN_FRAGMENT = """\
#version 330
uniform sampler2D fine;
uniform ivec2 size;
const float WEIGHTS[4] = float[4](0.1015625, 0.3984375, 0.3984375, 0.1015625);
out vec4 mean;
void main() {
    ivec2 first = 2 * ivec2(gl_FragCoord.xy) - 1, last = 2 * size - 1;
    mean = vec4(0.0);
    for (int row = 0; row < 4; row++)
        for (int column = 0; column < 4; column++)
            mean += WEIGHTS[row] * WEIGHTS[column]
                * texelFetch(fine, clamp(first + ivec2(column, row), ivec2(0), last), 0);
}
"""
